import { expect, it } from 'vitest';
import {
  annotationBytes,
  isRoomFor,
  MOST_ANNOTATION_BYTES,
  RESERVED_ANNOTATION_BYTES,
} from './annotation-room.ts';

const MOST = MOST_ANNOTATION_BYTES - RESERVED_ANNOTATION_BYTES;
const of = (bytes: number): Record<string, string> => ({ key: 'x'.repeat(bytes - 3) });

it('the bytes of keys and values count, not their characters', () => {
  expect(annotationBytes(undefined)).toBe(0);
  expect(annotationBytes({ ä: '€', b: '' })).toBe(2 + 3 + 1);
});

it.each([
  ['up to the limit less what is left free', undefined, of(MOST), true],
  ['one byte more', undefined, of(MOST + 1), false],
  ['one byte more than before', of(MOST + 1), of(MOST + 2), false],
  ['as many as before', of(MOST + 1), of(MOST + 1), true],
  ['fewer than before', of(MOST + 2), of(MOST + 1), true],
])('room for %s', (_, before, after, isRoom) => {
  expect(isRoomFor(before, after)).toBe(isRoom);
});
