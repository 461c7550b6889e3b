/** What happens in a run, and when. It is made from the seed before the run begins, so that steps can be left out to find a smaller story. */
import { Random } from './random.ts';
import {
  LETTERS,
  NAMESPACES,
  SOURCES,
  WORKLOADS,
  type Letter,
  type SourceRef,
  type WorkloadRef,
} from './world/shapes.ts';
import type { Asking } from './world/objects.ts';

type Namespace = (typeof NAMESPACES)[number];

export type Deed =
  | { readonly do: 'writeSource'; readonly source: SourceRef; readonly letter: Letter }
  | { readonly do: 'touchSource'; readonly source: SourceRef }
  | { readonly do: 'deleteSource'; readonly source: SourceRef }
  | { readonly do: 'ignoreSource' | 'matchSource'; readonly source: SourceRef; readonly on: boolean }
  | {
      readonly do: 'createWorkload';
      readonly workload: WorkloadRef;
      readonly refs: readonly SourceRef[];
      readonly asking: Asking;
    }
  | { readonly do: 'deleteWorkload' | 'touchWorkload' | 'scaleWorkload'; readonly workload: WorkloadRef }
  | {
      readonly do: 'editTemplate';
      readonly workload: WorkloadRef;
      readonly refs: readonly SourceRef[] | undefined;
    }
  | { readonly do: 'ask'; readonly workload: WorkloadRef; readonly asking: Asking }
  | {
      readonly do: 'kill' | 'stop' | 'freeze';
      readonly whom: 'watcher' | 'worker' | 'leader';
      readonly which: 0 | 1;
      readonly for: number;
    }
  | { readonly do: 'cutWatches' | 'cutRedis' | 'compact' | 'flushRedis' | 'setRedisBack' }
  | {
      readonly do:
        | 'slowApi'
        | 'faultyApi'
        | 'slowRedis'
        | 'faultyRedis'
        | 'apiDown'
        | 'redisDown'
        | 'redisFull';
      readonly for: number;
    }
  | { readonly do: 'clockJump'; readonly which: 0 | 1 | 2 | 3; readonly by: number };

export type Step = Deed & { readonly at: number; readonly namespace: Namespace };

export interface Plan {
  readonly seed: number;
  /** What is there before Reroll is installed. */
  readonly before: readonly Step[];
  readonly steps: readonly Step[];
  readonly flags: readonly string[];
  /** Virtual milliseconds from the start of the processes to the end of the last step. */
  readonly length: number;
}

type Maker = (random: Random) => Deed;

const which = (random: Random): 0 | 1 => random.pick([0, 1] as const);
const source = (random: Random): SourceRef => random.pick(SOURCES);
const workload = (random: Random): WorkloadRef => random.pick(WORKLOADS);
const letter = (random: Random): Letter => random.pick(LETTERS);
const span = (random: Random): number => random.pick([300, 2_000, 2_000, 8_000, 20_000] as const);

function refs(random: Random): SourceRef[] {
  const some = SOURCES.filter(() => random.chance(0.6));
  return some.length > 0 ? some : [SOURCES[0]];
}

function asking(random: Random): Asking {
  const how = random.pick([
    'auto',
    'auto',
    'auto',
    'auto',
    'named',
    'pattern',
    'search',
    'excluding',
    'nothing',
  ] as const);
  return how === 'named' || how === 'excluding' ? { how, sources: refs(random) } : { how };
}

const create: Maker = (r) => ({
  do: 'createWorkload',
  workload: workload(r),
  refs: refs(r),
  asking: asking(r),
});

const clockJump: Maker = (r) => ({
  do: 'clockJump',
  which: r.pick([0, 1, 2, 3] as const),
  by: r.pick([-120_000, -3_000, 3_000, 120_000] as const),
});

/** What people do to their namespaces, with weights. */
const DEEDS: readonly (readonly [number, Maker])[] = [
  [30, (r) => ({ do: 'writeSource', source: source(r), letter: letter(r) })],
  [4, (r) => ({ do: 'touchSource', source: source(r) })],
  [3, (r) => ({ do: 'deleteSource', source: source(r) })],
  [1, (r) => ({ do: 'ignoreSource', source: source(r), on: r.chance(0.5) })],
  [3, (r) => ({ do: 'matchSource', source: source(r), on: r.chance(0.7) })],
  [6, create],
  [2, (r) => ({ do: 'deleteWorkload', workload: workload(r) })],
  [3, (r) => ({ do: 'touchWorkload', workload: workload(r) })],
  [2, (r) => ({ do: 'scaleWorkload', workload: workload(r) })],
  [5, (r) => ({ do: 'editTemplate', workload: workload(r), refs: r.chance(0.4) ? refs(r) : undefined })],
  [3, (r) => ({ do: 'ask', workload: workload(r), asking: asking(r) })],
];

/** What goes wrong without anything being in doubt afterwards. */
const FAULTS: readonly (readonly [number, Maker])[] = [
  [3, (r) => ({ do: 'kill', whom: 'worker', which: which(r), for: span(r) })],
  [2, (r) => ({ do: 'stop', whom: 'worker', which: which(r), for: span(r) })],
  [2, (r) => ({ do: 'freeze', whom: 'worker', which: which(r), for: span(r) })],
  [3, (r) => ({ do: 'kill', whom: 'leader', which: 0, for: span(r) })],
  [3, (r) => ({ do: 'stop', whom: 'leader', which: 0, for: span(r) })],
  [2, (r) => ({ do: 'freeze', whom: 'leader', which: 0, for: span(r) })],
  [3, () => ({ do: 'cutWatches' })],
  [2, () => ({ do: 'cutRedis' })],
  [2, (r) => ({ do: 'slowApi', for: span(r) })],
  [3, (r) => ({ do: 'faultyApi', for: span(r) })],
  [2, (r) => ({ do: 'slowRedis', for: span(r) })],
  [3, (r) => ({ do: 'faultyRedis', for: span(r) })],
  [1, (r) => ({ do: 'apiDown', for: span(r) })],
  [1, (r) => ({ do: 'redisDown', for: span(r) })],
  [1, (r) => ({ do: 'redisFull', for: span(r) })],
  [1, () => ({ do: 'compact' })],
  [1, clockJump],
];

/** After these, what is not recorded is in doubt. */
const LOSSES: readonly (readonly [number, Maker])[] = [
  [3, (r) => ({ do: 'kill', whom: 'watcher', which: which(r), for: span(r) })],
  [1, () => ({ do: 'flushRedis' })],
  [1, () => ({ do: 'setRedisBack' })],
];

function weighted(table: readonly (readonly [number, Maker])[], random: Random): Deed {
  let at = random.next() * table.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, make] of table) {
    at -= weight;
    if (at < 0) return make(random);
  }
  throw new Error('expected weights above 0');
}

/** How much goes wrong: nothing in a fifth of the runs, losses in a quarter. */
function faultsOf(random: Random): { faults: number; losses: number } {
  const kind = random.next();
  if (kind < 0.2) return { faults: 0, losses: 0 };
  return { faults: random.pick([0.03, 0.1, 0.25] as const), losses: kind > 0.75 ? 0.04 : 0 };
}

export function planOf(seed: number): Plan {
  const random = new Random(seed);
  const namespace = (): Namespace => random.pick(NAMESPACES);
  const before: Step[] = [];
  for (const each of NAMESPACES)
    for (const ref of SOURCES)
      if (random.chance(0.8))
        before.push({ at: 0, namespace: each, do: 'writeSource', source: ref, letter: letter(random) });
  for (let count = random.between(1, 8); count > 0; count -= 1)
    before.push({ at: 0, namespace: namespace(), ...create(random) });
  const { faults, losses } = faultsOf(random);
  // Some runs begin before the processes are in sync.
  let at = random.pick([0, 500, 3_000, 8_000] as const);
  const pace = random.pick([30, 200, 1_000] as const);
  const steps: Step[] = [];
  for (let count = random.between(10, 50); count > 0; count -= 1) {
    at += Math.floor(-Math.log(1 - random.next()) * pace) + (random.chance(0.03) ? 15_000 : 0);
    const kind = random.next();
    const table = kind < faults ? FAULTS : kind < faults + losses ? LOSSES : DEEDS;
    steps.push({ at, namespace: namespace(), ...weighted(table, random) });
  }
  const debounce = random.pick(['0', '0', '500ms', '2s'] as const);
  return { seed, before, steps, flags: [`--debounce=${debounce}`], length: at + 1_000 };
}
