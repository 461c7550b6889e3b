import { describe, expect, it } from 'vitest';
import { OPTION_LIST } from './table.ts';

const GOOD = [
  'always',
  ' Always ',
  '22:00-4:00',
  'Mon-Fri 22:00-04:00 Europe/Berlin; sat,SUN 0:00 - 24:00;',
  ';1:00-2:00 Etc/GMT+1',
  'none',
  '1',
  '1,10%,100%',
  ' 5 , 50% ',
  '000001%,000100',
  '10/10m',
  '5/1h30m',
  ' 50/.5h',
  '1/+1s',
  '3/86400000000000ns',
  '2/1000000µs',
  'http://x',
  'HTTPS://user:p@x:1/path?q',
  ' https://x',
  'https:x',
  'http://[::1]',
  'redis://user:p%40w@host:6379/0',
  'rediss://:p@w@[::1]/?family=6',
  '::1',
  'fe80::1%eth0',
  '::ffff:1.2.3.4',
  '1:2:3:4:5:6:7:8',
  '10.0.0.1',
  'redis-0',
  'redis.db.svc',
  'a_b',
  'redis:6379',
  '[::1]',
  '[fe80::1%eth0]:6379',
  '127.0.0.1:65535',
  ':0',
  '10.0.0.0/8',
  '10.0.0.0/032',
  'fd00::/8',
  '::/128',
  'example.com/reload',
  'Reload_me.now',
  'helm.sh/release.v1',
  'Opaque',
  '320mb',
  '~!',
  'env=prod,team in (a,b),!legacy',
  'a:b,c:*,d==*,e!=f,n>5,n<9,g notin (),! h',
  'x'.repeat(63),
];
/** What is put into good texts, at every place. */
const INSERTED = ['', ' ', ',', '-', '0', '9', 'm', '%', '/', ':', '@', '#', '(', '.', '!', ';', '"'];

const WRONG = [
  'x y;z',
  'ftp://x',
  'ü',
  '-/-',
  'redis:',
  '2h',
  'x'.repeat(64),
  '51/1h',
  '101%',
  '65536',
  ':65536',
];

/** The good texts, and what becomes of them with a character less, another or more. */
const TEXTS = [
  ...GOOD,
  ...WRONG,
  ...GOOD.filter((text) => text.length < 63).flatMap((text) =>
    Array.from({ length: text.length + 1 }, (_, at) =>
      INSERTED.flatMap((inserted) =>
        [0, 1].map((removed) => text.slice(0, at) + inserted + text.slice(at + removed)),
      ),
    ).flat(),
  ),
].filter((text) => text.trim() !== '');

/** What a pattern does not tell, by the type of the option. */
const BEYOND: readonly { readonly type: string; readonly text: RegExp; readonly why: string }[] = [
  { type: 'windows', text: /\d\s+[a-z]/iu, why: 'which zones there are' },
  { type: 'windows', text: /\b0?(\d{1,2}:\d\d)\s*-\s*0?\1\b/u, why: 'that a window has a length' },
  { type: 'count/duration', text: /\/.*\d/u, why: 'how long a duration is, which Helm calculates' },
  { type: 'url', text: /%[89a-f]/iu, why: 'which bytes are UTF-8' },
  { type: 'url', text: /\.\d+(?:[:/]|$)/u, why: 'whether an address of four numbers is one' },
  { type: 'url', text: /\/\.(?:\?|$)/u, why: 'that a path of a dot is none' },
];

function isBeyond(type: string, text: string): boolean {
  return BEYOND.some((each) => each.type === type && each.text.test(text));
}

describe.each(OPTION_LIST.map(([, option]) => option).filter(({ pattern }) => pattern !== undefined))(
  'the pattern of $flag',
  ({ pattern = '', schema, form, type }) => {
    const expression = new RegExp(pattern, 'u');
    const isRead = (text: string): boolean => schema.safeParse(form === 'list' ? [text] : text).success;
    // Elements of a list are trimmed before.
    const texts = form === 'list' ? TEXTS.map((text) => text.trim()) : TEXTS;

    it('matches whatever is read', () => {
      const read = texts.filter(isRead);
      expect(read).not.toEqual([]);
      expect(read.filter((text) => !expression.test(text) && !isBeyond(type, text))).toEqual([]);
    });

    it('matches nothing else', () => {
      const wrong = texts.filter((text) => expression.test(text) && !isRead(text));
      expect(wrong.filter((text) => !isBeyond(type, text))).toEqual([]);
    });
  },
);
