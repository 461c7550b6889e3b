import { describe, expect, it } from 'vitest';
import { FULL_PROTECTION, type Protection } from './api.ts';
import { report, runSchedule, runSeed, shrink } from './run.ts';
import { scheduleOf, settingsOf, type Schedule } from './schedule.ts';
import type { Settings } from './settings.ts';

/** Seeds run by `npm test`; `npm run -s simulate` runs any others. */
const SEEDS = 5_000;
const A_BATCH = 1_000;

describe('under random schedules of writes, lags, crashes, freezes, Redis loss and rollback', () => {
  const batches = Array.from({ length: SEEDS / A_BATCH }, (_, index) => index * A_BATCH);

  it.each(batches)(
    'nothing is lost, doubled or endless in the schedules from seed %i on',
    (first) => {
      let rollouts = 0;
      for (let seed = first; seed < first + A_BATCH; seed += 1) {
        const run = runSeed(seed);
        rollouts += run.world.api.rollouts;
        if (run.failures.length > 0) {
          expect.fail(
            `seed ${seed}; again with: npm run -s simulate -- --seed ${seed}\n${report(shrink(run))}`,
          );
        }
      }
      expect(rollouts).toBeGreaterThan(A_BATCH / 2);
    },
    60_000,
  );
});

describe('the checker notices when', () => {
  const inAny = (): boolean => true;
  it.each<[string, Partial<Protection>, (settings: Settings) => boolean]>([
    ['the patch does not test the generation', { testsGeneration: false }, inAny],
    ['a catalog set back in time is not noticed', { noticesGaps: false }, inAny],
    ['a write whose reply was lost is not sent again as it was', { repeatsWrites: false }, inAny],
    ['what a leader wrote and enqueued no change job for is never told', { tellsUntold: false }, inAny],
    ['a list that broke is taken for a whole one', { endsLists: false }, inAny],
    [
      'nobody enqueues the end of a pause that was lost with Redis',
      { resyncsResumes: false },
      ({ pauses }) => pauses,
    ],
    ['an etcd that is restored is not noticed', { noticesRestores: false }, ({ restores }) => restores],
    ['a contested workload is reloaded all the same', { yieldsContests: false }, ({ rival }) => rival],
  ])(
    '%s',
    (_, missing, isMeant) => {
      const protection = { ...FULL_PROTECTION, ...missing };
      const fails = (schedule: Schedule): boolean => runSchedule(schedule, protection).failures.length > 0;
      const seeds = Array.from({ length: 20_000 }, (__, seed) => seed);
      expect(seeds.some((seed) => isMeant(settingsOf(seed)) && fails(scheduleOf(seed)))).toBe(true);
    },
    60_000,
  );
});

describe('a schedule', () => {
  it('is the same for the same seed', () => {
    expect(scheduleOf(7)).toEqual(scheduleOf(7));
    expect(scheduleOf(7)).not.toEqual(scheduleOf(8));
  });

  it('that shows a limit of the design is shrunk to one that shows the same limit', () => {
    const seeds = Array.from({ length: 500 }, (_, seed) => seed);
    const run = seeds.map(runSeed).find(({ limits }) => limits.some(({ kind }) => kind === 'D2f'));
    if (!run) expect.fail('no seed below 500 shows a rollout too many after a gap');
    const short = shrink(run, ['D2f']);
    expect(short.schedule.ops.length).toBeLessThan(run.schedule.ops.length);
    expect(short.limits.map(({ kind }) => kind)).toContain('D2f');
  });
});
