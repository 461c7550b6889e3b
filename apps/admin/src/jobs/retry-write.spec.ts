import { expect, it } from 'vitest';
import { anonymousReader } from '../auth/static-tokens.ts';
import { retryWrite } from './retry-write.ts';

const ID = 'reloads:7';
const BY = {
  caller: { ...anonymousReader(), mayChange: () => Promise.resolve(true) },
  // The job has ended.
  board: { find: () => Promise.resolve(undefined), retry: () => Promise.resolve() },
};
const subject = 'Deployment/shop/web';

it('a job that has ended is not found', async () => {
  const { allow, target } = await retryWrite(ID, BY);
  await expect(allow()).rejects.toMatchObject({ code: 'NotFound' });
  expect(target).toBe(ID);
});

it('a job that is known and has ended cannot be retried, but its earlier answer may be given to who has the right', async () => {
  const { allow, run, target } = await retryWrite(ID, { ...BY, subject });
  expect(await allow()).toBeUndefined();
  await expect(run()).rejects.toMatchObject({ code: 'NotFound' });
  expect(target).toBe(`${ID} ${subject}`);
  const without = await retryWrite(ID, { ...BY, caller: anonymousReader(), subject });
  await expect(without.allow()).rejects.toMatchObject({ code: 'Forbidden' });
});
