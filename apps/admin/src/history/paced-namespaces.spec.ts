import { expect, it } from 'vitest';
import type { Caller } from '../auth/caller.ts';
import { PacedNamespaces } from './paced-namespaces.ts';

it('asks about a hundred namespaces a second, each once, and leaves none out', async () => {
  let now = 0;
  const asked: { namespace: string; at: number }[] = [];
  const caller = {
    seesAll: () => Promise.resolve(false),
    sees: (namespace: string) => {
      asked.push({ namespace, at: now });
      return Promise.resolve(namespace !== 'ns-7');
    },
  } as Partial<Caller> as Caller;
  const pause = async (ms: number): Promise<void> => void (now += ms);
  const namespaces = new PacedNamespaces({ caller, pause, now: () => now });
  const seen: boolean[] = [];
  for (let index = 0; index < 250; index += 1) {
    for (const name of [`ns-${index}`, `ns-${index}`]) seen.push(await namespaces.sees(name));
  }
  expect(seen.filter((each) => !each)).toHaveLength(2);
  expect(seen).toHaveLength(500);
  expect([0, 1_000, 2_000].map((at) => asked.filter((each) => each.at === at).length)).toEqual([
    100, 100, 50,
  ]);
});
