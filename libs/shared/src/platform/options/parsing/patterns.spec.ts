import { describe, expect, it } from 'vitest';
import { OPTION_LIST } from './table.ts';

const TEXTS = [
  'always',
  ' Always ',
  '22:00-4:00',
  'Mon-Fri 22:00-04:00 Europe/Berlin; sat,SUN 0:00 - 24:00;',
  ';1:00-2:00 Etc/GMT+1',
  'none',
  ' none ',
  '1',
  '1,10%,100%',
  ' 5 , 50% ',
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
  '::1',
  'fe80::1%eth0',
  '::ffff:1.2.3.4',
  '10.0.0.1',
  'redis-0',
  'redis.db.svc',
  'a_b',
  'redis:6379',
  '[::1]',
  '[fe80::1%eth0]:6379',
  '10.0.0.0/8',
  'fd00::/8',
  '1.2.3.4',
  '::/0',
  'example.com/reload',
  'Reload_me.now',
  'helm.sh/release.v1',
  'Opaque',
  '320mb',
  '~!',
];
/** No option reads all of them. */
const WRONG = ['x y;z', 'ftp://x', 'ü', '-/-', 'redis:', '2h'];

describe.each(OPTION_LIST.map(([, option]) => option).filter(({ pattern }) => pattern !== undefined))(
  'the pattern of $flag',
  ({ pattern = '', schema, form }) => {
    const expression = new RegExp(pattern, 'u');
    const isRead = (text: string): boolean => schema.safeParse(form === 'list' ? [text] : text).success;

    it('matches whatever is read', () => {
      const read = TEXTS.filter(isRead);
      // Elements of a list are trimmed before.
      const compared = form === 'list' ? read.map((text) => text.trim()) : read;
      expect(read).not.toEqual([]);
      expect(compared.filter((text) => !expression.test(text))).toEqual([]);
    });

    it('refuses what is obviously wrong', () => {
      expect(WRONG.filter((text) => expression.test(text) && !isRead(text))).toEqual([]);
    });
  },
);
