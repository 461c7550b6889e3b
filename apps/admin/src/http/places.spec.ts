import { expect, it } from 'vitest';
import { Places } from './places.ts';
import { ProblemError } from './problem-error.ts';

const FORM = /^\d+-\d+$/u;
const places = new Places(() => 'secret');

it('a place is opened by every admin that has the secret, and read by nobody', () => {
  const sealed = places.seal('1763737200123-0');
  expect(new Places(() => 'secret').open(sealed)).toBe('1763737200123-0');
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('1763737200123');
  expect(places.seal('1763737200123-0')).not.toBe(sealed);
});

it('what was made up, changed, cut, or sealed under another secret is none', () => {
  const sealed = places.seal('1763737200123-0');
  const bytes = Buffer.from(sealed, 'base64url');
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  const wrong = ['', 'x', '0'.repeat(512), bytes.toString('base64url'), sealed.slice(0, -2)];
  expect(wrong.map((each) => places.open(each))).toEqual(wrong.map(() => undefined));
  expect(new Places(() => 'another').open(sealed)).toBeUndefined();
});

it('a cursor of another list is refused, with what was expected', () => {
  expect(places.read(undefined, FORM)).toBeUndefined();
  expect(places.read(places.seal('1-0'), FORM)).toBe('1-0');
  expect(() => places.read(places.seal('Deployment/shop/web'), FORM)).toThrow(ProblemError);
});
