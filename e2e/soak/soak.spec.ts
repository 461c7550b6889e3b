import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { usageOf } from '../../tools/bench/src/measure/proc.ts';
import { RESTARTS, turmoil } from '../faults/support/chaos.ts';
import { startPlace, type Place } from '../faults/support/place.ts';

const { SOAK_MINUTES = '30', SOAK_SEED = '1' } = process.env;
const FOR_MS = Number(SOAK_MINUTES) * 60_000;
/** Until heap, caches and the history have their size. */
const WARM_UP_MS = 300_000;

/** What must not grow, by name. */
async function sizes({ reroll }: Place): Promise<Record<string, number>> {
  const apps = [reroll.watchers[0], reroll.workers[0]].filter((app) => app !== undefined);
  const ofApps = apps.flatMap(({ name, pid }) => [
    [`${name}: resident MB`, usageOf(pid)?.residentMb ?? Number.NaN],
    [`${name}: open files`, readdirSync(`/proc/${pid}/fd`).length],
  ]);
  const memory = /used_memory:(\d+)/u.exec(await reroll.redis.info('memory'))?.[1];
  return {
    ...(Object.fromEntries(ofApps) as Record<string, number>),
    'Redis: MB': Number(memory) / 1e6,
    'Redis: keys': await reroll.redis.dbsize(),
  };
}

test(
  'restarts at random while twenty sources change each second: nothing has grown',
  { timeout: WARM_UP_MS + FOR_MS + 300_000 },
  async ({ annotate }) => {
    const place = await startPlace({
      workloads: 100,
      // As in the image: without it V8 lets the heap grow first.
      env: { NODE_OPTIONS: '--max-semi-space-size=4' },
      // A history that is full when the warm-up ends.
      flags: ['--history-max-changes=200'],
      watcherFlags: ['--lease-duration=60s', '--lease-renew-deadline=50s', '--lease-retry-period=2s'],
    });
    const { fleet, reroll } = place;
    const tell = (line: string): void => console.log(line);
    const plan = { place, changesPerSecond: 20, faults: RESTARTS, pauses: [10, 60], tell } as const;
    await turmoil({ ...plan, seed: Number(SOAK_SEED), forMs: WARM_UP_MS });
    await fleet.settled(reroll);
    const before = await sizes(place);
    await turmoil({ ...plan, seed: Number(SOAK_SEED) + 1, forMs: FOR_MS });
    await fleet.settled(reroll);
    const after = await sizes(place);
    await annotate(JSON.stringify({ before, after }));

    expect(await fleet.anomaliesOfChurn()).toEqual([]);
    const grown = Object.entries(after).filter(([name, size]) => size > 1.3 * (before[name] ?? 0) + 10);
    expect(grown).toEqual([]);
  },
);
