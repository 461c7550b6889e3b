import { pageQuery } from '@reroll/shared/api/page';
import { expect, it } from 'vitest';
import { Cursors } from './cursors.ts';
import { ProblemError } from './problem-error.ts';

const FORM = /^\d+-\d+$/u;
const cursors = new Cursors(() => 'secret');

it('a cursor is opened by every admin that has the secret, and read by nobody', () => {
  const sealed = cursors.seal('1763737200123-0');
  expect(new Cursors(() => 'secret').open(sealed)).toBe('1763737200123-0');
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('1763737200123');
  expect(cursors.seal('1763737200123-0')).not.toBe(sealed);
});

it('what was made up, changed, cut, or sealed under another secret is none', () => {
  const sealed = cursors.seal('1763737200123-0');
  const bytes = Buffer.from(sealed, 'base64url');
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  const wrong = ['', 'x', '0'.repeat(512), bytes.toString('base64url'), sealed.slice(0, -2)];
  expect(wrong.map((each) => cursors.open(each))).toEqual(wrong.map(() => undefined));
  expect(new Cursors(() => 'another').open(sealed)).toBeUndefined();
});

it('a cursor of another list is refused, with what was expected', () => {
  expect(cursors.read(undefined, FORM)).toBeUndefined();
  expect(cursors.read(cursors.next('1-0') ?? '', FORM)).toBe('1-0');
  expect(() => cursors.read(cursors.next('shop/web/Deployment') ?? '', FORM)).toThrow(ProblemError);
});

it('the cursor of a page has one length, which the API accepts, and tells nothing about the name in it', () => {
  const longest = `${'n'.repeat(63)}/${'s'.repeat(253)}/SecretProviderClass`;
  const next = ['', '1-0', 'shop', 'project-blackbird', longest].map((last) => cursors.next(last));
  expect(new Set(next.map((each) => each?.length)).size).toBe(1);
  expect(next.map((each) => pageQuery.cursor.safeParse(each).success)).not.toContain(false);
  expect(cursors.read(next.at(-1) ?? undefined, /^.+$/u)).toBe(longest);
  expect(cursors.next(undefined)).toBeNull();
});
