import { expect, it } from 'vitest';
import { changeCause, type Before } from './change-cause.ts';

const live = (hash: string | null): Before => ({ foundBy: 'event', hash });
const listed = (hash: string | null): Before => ({ foundBy: 'list', hash });

it.each<[string, Before | undefined, string | null, ReturnType<typeof changeCause>]>([
  ['a live write of other data is an update', live('1.A'), '1.B', { cause: 'updated', from: '1.A' }],
  ['what did not exist was created', live(null), '1.B', { cause: 'created', from: null }],
  ['what exists no more was deleted', live('1.A'), null, { cause: 'deleted', from: '1.A' }],
  ['what a list found was missed', listed('1.A'), '1.B', { cause: 'missed', from: '1.A' }],
  ['what a list found to be there was missed', listed(null), '1.B', { cause: 'missed', from: null }],
  ['what a list did not find was missed', listed('1.A'), null, { cause: 'missed', from: '1.A' }],
  [
    'there and back before it was told is a repetition',
    live('1.A'),
    '1.A',
    { cause: 'repeated', from: '1.A' },
  ],
  ['a job that finds nothing new repeats', undefined, '1.A', { cause: 'repeated', from: '1.A' }],
  ['a job that finds it gone still repeats', undefined, null, { cause: 'repeated', from: null }],
])('%s', (_what, before, hash, expected) => {
  expect(changeCause(before, hash)).toEqual(expected);
});
