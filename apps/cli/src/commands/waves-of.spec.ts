import { expect, it } from 'vitest';
import type { AdminApi } from '../api/admin-api.ts';
import { change } from '../testing/answers.ts';
import { wavesOf } from './waves-of.ts';

it.each([
  ['of the data that the source has', {}, true],
  ['of data that it has again', { overtaken: true }, false],
  ['of other data', { to: 'other' }, false],
])('the waves of a change %s', async (_, more, isTold) => {
  const to = change().to;
  const api = { call: () => Promise.resolve({ hash: to }) } as unknown as AdminApi;
  expect((await wavesOf(api, change(more))) !== undefined).toBe(isTold);
});
