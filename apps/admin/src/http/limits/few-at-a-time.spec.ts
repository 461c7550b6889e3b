import { expect, it } from 'vitest';
import { FewAtATime } from './few-at-a-time.ts';

const refusal = (detail: string): object => ({ code: 'TooManyRequests', details: { detail } });

it('refuses a second task of a caller, and a third of all, until one is over, also if it failed', async () => {
  const few = new FewAtATime(2);
  const first = Promise.withResolvers<string>();
  const second = Promise.withResolvers<string>();
  const running = [few.run('ann', () => first.promise), few.run('bob', () => second.promise)];
  let begun = 0;
  const task = async (): Promise<number> => (begun += 1);
  await expect(few.run('ann', task)).rejects.toMatchObject(
    refusal('your last request of this kind is still under way'),
  );
  await expect(few.run('cid', task)).rejects.toMatchObject(refusal('2 requests of this kind are under way'));
  expect(begun).toBe(0);
  first.reject(new Error('no'));
  await expect(running[0]).rejects.toThrow('no');
  expect(await few.run('ann', task)).toBe(1);
  second.resolve('done');
  expect(await running[1]).toBe('done');
});
