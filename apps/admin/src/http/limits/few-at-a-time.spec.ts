import { expect, it } from 'vitest';
import { FewAtATime } from './few-at-a-time.ts';

const refusal = (detail: string): object => ({ code: 'TooManyRequests', details: { detail } });
const UNDER_WAY =
  'your last request of this kind, or that of another service account of your namespace, is still under way';

it('refuses a second task of a caller, and a third of all, until one is over, also if it failed', async () => {
  const few = new FewAtATime(2);
  const first = Promise.withResolvers<string>();
  const second = Promise.withResolvers<string>();
  const running = [few.run('ann', () => first.promise), few.run('bob', () => second.promise)];
  let begun = 0;
  const task = async (): Promise<number> => (begun += 1);
  await expect(few.run('ann', task)).rejects.toMatchObject(refusal(UNDER_WAY));
  await expect(few.run('cid', task)).rejects.toMatchObject(refusal('2 requests of this kind are under way'));
  expect(begun).toBe(0);
  first.reject(new Error('no'));
  await expect(running[0]).rejects.toThrow('no');
  expect(await few.run('ann', task)).toBe(1);
  second.resolve('done');
  expect(await running[1]).toBe('done');
});

it('refuses a second task of the service accounts of a namespace, and none of another', async () => {
  const few = new FewAtATime(4);
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = few.run('system:serviceaccount:shop:a', () => promise);
  const task = (): Promise<number> => Promise.resolve(1);
  await expect(few.run('system:serviceaccount:shop:b', task)).rejects.toMatchObject(refusal(UNDER_WAY));
  expect(await few.run('system:serviceaccount:bank:a', task)).toBe(1);
  resolve('done');
  expect(await running).toBe('done');
  expect(await few.run('system:serviceaccount:shop:b', task)).toBe(1);
});
