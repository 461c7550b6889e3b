import { expect, test } from 'vitest';
import { EVERYTHING, turmoil } from './support/chaos.ts';
import { startPlace } from './support/place.ts';
import { QUICK_LEASE } from './support/settings.ts';

const { CHAOS_SEED = '1', CHAOS_SEEDS = '1', CHAOS_SECONDS = '40' } = process.env;
const SEEDS = Array.from({ length: Number(CHAOS_SEEDS) }, (_, index) => Number(CHAOS_SEED) + index);
const FOR_MS = Number(CHAOS_SECONDS) * 1_000;

test.for(SEEDS)(
  'chaos with seed %d: kills, freezes, cuts and delays while ten sources change each second',
  { timeout: FOR_MS + 240_000 },
  async (seed, { annotate, onTestFailed }) => {
    const story: string[] = [];
    onTestFailed(() => {
      const command = 'npx vitest run --project faults e2e/faults/chaos';
      console.error(
        `${story.join('\n')}\nrepeat with: CHAOS_SEED=${seed} CHAOS_SECONDS=${CHAOS_SECONDS} ${command}`,
      );
    });
    const place = await startPlace({ workloads: 60, watcherFlags: QUICK_LEASE });
    const { fleet, reroll } = place;
    const plan = { place, seed, forMs: FOR_MS, changesPerSecond: 10, faults: EVERYTHING };
    await turmoil({ ...plan, pauses: [0.5, 5], tell: (line) => story.push(line) });
    await fleet.settled(reroll);
    expect(await fleet.anomaliesOfChurn()).toEqual([]);
    const changes = fleet.members.reduce((sum, member) => sum + fleet.changesOf(member), 0);
    await annotate(`${story.length} faults, ${changes} changes`);
    expect(changes).toBeGreaterThan(2 * Number(CHAOS_SECONDS));

    // All of it works as before.
    await fleet.adopted();
    await fleet.change();
    await fleet.settled(reroll);
    expect(await fleet.anomalies()).toEqual([]);
  },
);
