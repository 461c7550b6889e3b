import { expect, it } from 'vitest';
import { OneAtATime } from './one-at-a-time.ts';

it('a second task of a caller begins when the first is over, also if it failed; that of another does not wait', async () => {
  const turns = new OneAtATime();
  const told: string[] = [];
  const first = Promise.withResolvers<void>();
  const running = [
    turns.run('ann', () => first.promise).catch(() => told.push('ann failed')),
    turns.run('ann', async () => void told.push('ann again')),
    turns.run('ann', async () => void told.push('ann a third time')),
  ];
  await turns.run('bob', async () => void told.push('bob'));
  expect(told).toEqual(['bob']);
  first.reject(new Error('no'));
  await Promise.all(running);
  expect(told.toSorted()).toEqual(['ann a third time', 'ann again', 'ann failed', 'bob'].toSorted());
  expect(told.indexOf('ann again')).toBeLessThan(told.indexOf('ann a third time'));
});
