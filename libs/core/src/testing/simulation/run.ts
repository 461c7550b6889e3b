import { FULL_PROTECTION, type Protection, type Violation } from './api.ts';
import { scheduleOf, type Schedule } from './schedule.ts';
import { World } from './world.ts';

/**
 * Violations that the design documents as limits: after a gap of the leader, a loss of Redis or a re-list, a
 * rollout too many; A -> B -> A inside such a gap while the owner rolled at B, or where creations count a source that
 * went and came back with the same data; a change, in such a gap, of a source that the workload's record did not
 * speak of yet (it is listed as stale where that can be told); the deletion of a source of which leader and Redis
 * were lost together; and a conflict of which a part was not seen. While
 * keys are turned over, a rollout too many for an entry that a watcher with another key could not compare. And, of a source that seems to
 * have been written once only, a write in the second of its creation, or an earlier life that no watcher saw. And a change
 * between a restore of etcd and the moment at which every watcher knows of it.
 */
const LIMITS = new Set([
  'D1f',
  'D2f',
  'Lflipf',
  'Lunrecordedf',
  'Lonce',
  'Lrestoref',
  'Urestoref',
  'Ldf',
  'Cf',
  'Lcreatef',
  'D2k',
  'Wf',
  'Wk',
  'Wkf',
]);

export interface Run {
  readonly schedule: Schedule;
  /** What no schedule may show: something lost (L), doubled (D1, D2), unrecorded (U), endless (T), paused for ever or
   * resumed against its owner (P), rolled though contested (C) or taken for contested (X) or gone (G) and is not,
   * touched out of scope (N), changed and nobody was told (W), a lost reply taken for a gap (R), or left over of
   * what was deleted (Z). */
  readonly failures: readonly Violation[];
  readonly limits: readonly Violation[];
  readonly world: World;
}

export function runSchedule(schedule: Schedule, protection: Protection = FULL_PROTECTION): Run {
  const world = new World(protection, schedule.settings);
  world.run(schedule.ops);
  return {
    schedule,
    failures: world.violations.filter(({ kind }) => !LIMITS.has(kind)),
    limits: world.violations.filter(({ kind }) => LIMITS.has(kind)),
    world,
  };
}

export function runSeed(seed: number): Run {
  return runSchedule(scheduleOf(seed));
}

/** The shortest schedule found, by leaving steps out, that fails in the same way with no other faults. */
export function shrink(run: Run, kinds: readonly string[] = run.failures.map(({ kind }) => kind)): Run {
  const faults = run.world.faults;
  const failsAlike = (shorter: Run): boolean =>
    shorter.world.violations.some(({ kind }) => kinds.includes(kind)) &&
    [...shorter.world.faults].every((fault) => faults.has(fault));
  let best = run;
  for (let size = Math.ceil(best.schedule.ops.length / 2); size >= 1;) {
    const shorter = withoutAChunk(best, size, failsAlike);
    if (shorter) best = shorter;
    else size = size === 1 ? 0 : Math.floor(size / 2);
  }
  return best;
}

function withoutAChunk(run: Run, size: number, failsAlike: (run: Run) => boolean): Run | null {
  const { settings, ops } = run.schedule;
  for (let start = 0; start < ops.length; start += size) {
    const shorter = runSchedule(
      { settings, ops: [...ops.slice(0, start), ...ops.slice(start + size)] },
      run.world.protection,
    );
    if (failsAlike(shorter)) return shorter;
  }
  return null;
}

/** The schedule, what happened and what went wrong, for a person. */
export function report(run: Run): string {
  const steps = run.schedule.ops.map((op, index) => `  ${index} ${JSON.stringify(op)}`);
  const wrong = run.world.violations.map(({ kind, text }) => `  ${kind}: ${text}`);
  return [
    `install: ${JSON.stringify(run.schedule.settings)}`,
    'schedule:',
    ...steps,
    'what happened:',
    ...run.world.lines,
    'violations:',
    ...wrong,
  ].join('\n');
}
