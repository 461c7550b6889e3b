import { NO_TRIGGERS } from '../../state/settings.ts';
import { SOURCES, WORKLOADS, type Letter, type SourceId, type WorkloadId } from './api.ts';
import { PLAIN, type Settings } from './settings.ts';

type Index = 0 | 1;
type Refs = readonly SourceId[];

/** One step of a schedule. A step that does not apply does nothing, so that schedules can be shrunk. */
export type Op =
  | { do: 'writeSource'; source: SourceId; data: Letter }
  | { do: 'touchSource' | 'deleteSource'; source: SourceId }
  | { do: 'createWorkload'; workload: WorkloadId; refs: Refs; auto: boolean; period?: string | undefined }
  | { do: 'recreateWorkload'; workload: WorkloadId; refs: Refs }
  | { do: 'deleteWorkload' | 'toggleAuto' | 'stripRecord'; workload: WorkloadId }
  | { do: 'editTemplate'; workload: WorkloadId; refs?: Refs }
  | { do: 'stripMarker'; workload: WorkloadId; record: boolean }
  | { do: 'release'; workload: WorkloadId }
  | { do: 'setPaused'; workload: WorkloadId; paused: boolean }
  | { do: 'setPeriod'; workload: WorkloadId; period: string | undefined }
  | { do: 'recreateSource'; source: SourceId; data: Letter | 'same' }
  | { do: 'rotateKey' }
  | { do: 'setScope'; inScope: boolean }
  | { do: 'learnScope'; watcher: Index }
  | { do: 'evaluate'; watcher: Index; slices: number; nextWindow: boolean }
  | { do: 'progress'; steps: number }
  | { do: 'fight'; source: SourceId; data: Letter; workload: WorkloadId }
  | { do: 'beginList'; watcher: Index; stream: 'S' | 'W'; shown: number; breaks: boolean }
  | { do: 'touchWorkload'; workload: WorkloadId; generations: 0 | 1 }
  | { do: 'upgrade'; source: SourceId; data: Letter; workload: WorkloadId; refs: Refs }
  | { do: 'tick'; units: number }
  | { do: 'deliver'; watcher: Index; stream: 'S' | 'W' }
  | { do: 'publish'; watcher: Index; what: 'rows' | 'all' }
  | { do: 'loseReply'; watcher: Index; what: 'done' | 'undone' | 'late' }
  | {
      do:
        | 'start'
        | 'lead'
        | 'list'
        | 'resync'
        | 'notice'
        | 'slice'
        | 'relist'
        | 'crash'
        | 'freeze'
        | 'thaw'
        | 'arrive'
        | 'leaseExpires';
      watcher: Index;
    }
  | { do: 'handOver'; answered: boolean }
  | { do: 'redisLoses'; writes: number }
  | { do: 'redisFlush' | 'stalledCheck' | 'backUp' }
  | { do: 'restore'; bump: boolean }
  | { do: 'step'; worker: Index; pick: number }
  | { do: 'workerCrash' | 'workerFreeze' | 'workerThaw'; worker: Index };

/** A small seeded generator (mulberry32): the same seed gives the same schedule on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[Math.floor(this.next() * items.length)] ?? items[0];
  }

  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }
}

type Maker = (random: Random) => Op;
type Table = readonly (readonly [number, Maker])[];

const DATA = ['A', 'B', 'C'] as const;
const REFS: readonly [Refs, ...Refs[]] = [['s0'], ['s1'], ['s0', 's1'], ['s0', 's1']];
const refs = (random: Random): Refs => random.pick(REFS);
const source = (random: Random): SourceId => random.pick(SOURCES);
const workload = (random: Random): WorkloadId => random.pick(WORKLOADS);
const PERIODS: readonly [string | undefined, ...(string | undefined)[]] = [undefined, '20s', '1m', 'soon'];
const index = (random: Random): Index => random.pick([0, 1] as const);

/** What happens, and how often. The second group is scaled by how faulty the schedule is to be. */
const EVENTS: Table = [
  [9, (r) => ({ do: 'writeSource', source: source(r), data: r.pick(DATA) })],
  [2, (r) => ({ do: 'touchSource', source: source(r) })],
  [1.2, (r) => ({ do: 'deleteSource', source: source(r) })],
  [2, (r) => ({ do: 'createWorkload', workload: workload(r), refs: refs(r), auto: r.chance(0.9) })],
  [0.7, (r) => ({ do: 'recreateWorkload', workload: workload(r), refs: refs(r) })],
  [1, (r) => ({ do: 'deleteWorkload', workload: workload(r) })],
  [2, (r) => ({ do: 'editTemplate', workload: workload(r) })],
  [1.2, (r) => ({ do: 'editTemplate', workload: workload(r), refs: refs(r) })],
  [0.8, (r) => ({ do: 'toggleAuto', workload: workload(r) })],
  [2, (r) => ({ do: 'touchWorkload', workload: workload(r), generations: index(r) })],
  [3, upgrade],
  [2, (r) => ({ do: 'tick', units: r.pick([1, 5, 12, 40]) })],
  [40, (r) => ({ do: 'deliver', watcher: index(r), stream: r.pick(['S', 'W']) })],
  [25, (r) => ({ do: 'publish', watcher: index(r), what: r.pick(['all', 'all', 'all', 'rows']) })],
  [1.5, (r) => ({ do: 'resync', watcher: index(r) })],
  [70, (r) => ({ do: 'step', worker: index(r), pick: r.between(0, 3) })],
  [3, (r) => ({ do: 'list', watcher: index(r) })],
  [2, (r) => ({ do: 'lead', watcher: index(r) })],
  [1, (r) => ({ do: 'start', watcher: index(r) })],
  [2, () => ({ do: 'stalledCheck' })],
  [1, (r) => ({ do: 'notice', watcher: index(r) })],
];
/** Between the slices of long work anything may happen. */
const SLICES: Table = [
  [3, (r) => ({ do: 'slice', watcher: index(r) })],
  [
    25,
    (r) => ({
      do: 'evaluate',
      watcher: index(r),
      slices: r.pick([1, 2, 9, 9]),
      nextWindow: r.chance(0.7),
    }),
  ],
];
/** Only in installs with the settings that they are about. */
const WITH_TRIGGERS: Table = [
  [2, (r) => ({ do: 'deleteSource', source: source(r) })],
  [2, (r) => ({ do: 'recreateSource', source: source(r), data: r.pick(['same', 'same', ...DATA]) })],
];
const WITH_PAUSES: Table = [
  [1, (r) => ({ do: 'setPaused', workload: workload(r), paused: r.chance(0.3) })],
  [1, (r) => ({ do: 'setPeriod', workload: workload(r), period: r.pick(PERIODS) })],
  [2, (r) => ({ do: 'tick', units: r.pick([12, 60]) })],
];
const WITH_RIVAL: Table = [
  [4, (r) => ({ do: 'stripMarker', workload: workload(r), record: r.chance(0.1) })],
  [6, (r) => ({ do: 'fight', source: source(r), data: r.pick(DATA), workload: workload(r) })],
  [0.5, (r) => ({ do: 'release', workload: workload(r) })],
  [0.3, () => ({ do: 'tick', units: 3_500 })],
];
/** Everything goes on for a while, so that more comes to its end between two events than single steps bring. */
const WITH_ANY: Table = [[14, (r) => ({ do: 'progress', steps: r.pick([6, 20, 20]) })]];
const WITH_SCOPE: Table = [
  [2.5, (r) => ({ do: 'setScope', inScope: r.chance(0.6) })],
  [5, (r) => ({ do: 'learnScope', watcher: index(r) })],
];
const WITH_ROTATION: Table = [
  [1.5, () => ({ do: 'rotateKey' })],
  [2, (r) => ({ do: 'workerCrash', worker: index(r) })],
  [0.7, (r) => ({ do: 'crash', watcher: index(r) })],
  [2, (r) => ({ do: 'start', watcher: index(r) })],
  [2, (r) => ({ do: 'list', watcher: index(r) })],
];
const WITH_RESTORES: Table = [
  [2, () => ({ do: 'backUp' })],
  [1.5, (r) => ({ do: 'restore', bump: r.chance(0.4) })],
  [3, (r) => ({ do: 'notice', watcher: index(r) })],
  [2, (r) => ({ do: 'start', watcher: index(r) })],
  [2, (r) => ({ do: 'list', watcher: index(r) })],
  [2, (r) => ({ do: 'lead', watcher: index(r) })],
];
const FAULTS: Table = [
  [0.25, (r) => ({ do: 'relist', watcher: index(r) })],
  [
    0.35,
    (r) => ({
      do: 'beginList',
      watcher: index(r),
      stream: r.pick(['S', 'W']),
      shown: r.between(0, 3),
      breaks: r.chance(0.6),
    }),
  ],
  [1.5, (r) => ({ do: 'loseReply', watcher: index(r), what: r.pick(['done', 'done', 'undone', 'late']) })],
  [1, (r) => ({ do: 'arrive', watcher: index(r) })],
  [2, (r) => ({ do: 'handOver', answered: r.chance(0.7) })],
  [0.9, (r) => ({ do: 'crash', watcher: index(r) })],
  [0.5, (r) => ({ do: 'freeze', watcher: index(r) })],
  [1, (r) => ({ do: 'thaw', watcher: index(r) })],
  [1, (r) => ({ do: 'leaseExpires', watcher: index(r) })],
  [0.5, (r) => ({ do: 'redisLoses', writes: r.pick([1, 2, 4, 8, 30, 100]) })],
  [0.25, () => ({ do: 'redisFlush' })],
  [0.4, (r) => ({ do: 'stripRecord', workload: workload(r) })],
  [0.8, (r) => ({ do: 'workerCrash', worker: index(r) })],
  [0.8, (r) => ({ do: 'workerFreeze', worker: index(r) })],
  [2, (r) => ({ do: 'workerThaw', worker: index(r) })],
];

/** An install, and what happens to it. */
export interface Schedule {
  readonly settings: Settings;
  readonly ops: readonly Op[];
}

/** The install of a seed. */
export function settingsOf(seed: number): Settings {
  return drawSettings(new Random(seed));
}

/** The schedule of a seed: a start, then 40 to 220 random steps. */
export function scheduleOf(seed: number): Schedule {
  const random = new Random(seed);
  const settings = drawSettings(random);
  const faulty = settings.scoped ? 0 : random.pick([0, 1, 1, 3]);
  const table = tableOf(settings, faulty);
  const total = table.reduce((sum, [weight]) => sum + weight, 0);
  const steps = random.between(40, 220);
  return {
    settings,
    ops: [...opening(random, settings), ...Array.from({ length: steps }, () => draw(table, total, random))],
  };
}

/** Half of the installs are plain; of the others each has some of the options, and of who else is at work. */
function drawSettings(random: Random): Settings {
  if (random.chance(0.4)) return PLAIN;
  if (random.chance(0.2)) return { ...PLAIN, restores: true };
  const triggers = random.chance(0.5)
    ? {
        onCreate: random.chance(0.6),
        onDelete: random.pick(['never', 'marked', 'always'] as const),
        afterRestart: random.chance(0.25),
        announced: random.chance(0.7),
      }
    : NO_TRIGGERS;
  const scoped = random.chance(0.12);
  return {
    triggers,
    adoptStale: triggers.onCreate && triggers.afterRestart ? 'reload' : 'report',
    pauses: random.chance(0.4),
    rival: random.chance(0.3),
    rotates: random.chance(0.3),
    scoped,
    restores: !scoped && random.chance(0.1),
  };
}

function tableOf(settings: Settings, faulty: number): Table {
  return [
    ...EVENTS,
    ...SLICES,
    ...(settings === PLAIN ? [] : WITH_ANY),
    ...(settings.triggers === NO_TRIGGERS ? [] : WITH_TRIGGERS),
    ...(settings.pauses ? WITH_PAUSES : []),
    ...(settings.rival ? WITH_RIVAL : []),
    ...(settings.scoped ? WITH_SCOPE : []),
    ...(settings.restores ? WITH_RESTORES : []),
    ...(settings.rotates && !settings.scoped ? WITH_ROTATION : []),
    ...FAULTS.map(([weight, make]) => [weight * faulty, make] as const),
  ];
}

function opening(random: Random, { pauses }: Settings): Op[] {
  const ops: Op[] = [];
  for (const id of SOURCES)
    if (random.chance(0.85)) ops.push({ do: 'writeSource', source: id, data: random.pick(DATA) });
  for (const id of WORKLOADS) {
    const period = pauses ? random.pick(PERIODS) : undefined;
    if (random.chance(0.6))
      ops.push({ do: 'createWorkload', workload: id, refs: refs(random), auto: random.chance(0.9), period });
  }
  for (let n = random.between(0, 2); n > 0; n -= 1) {
    ops.push({ do: 'writeSource', source: source(random), data: random.pick(DATA) });
  }
  ops.push({ do: 'tick', units: random.pick([0, 0, 30]) }, { do: 'lead', watcher: 0 });
  const standby = random.chance(0.6);
  if (standby) ops.push({ do: 'start', watcher: 1 });
  if (random.chance(0.8)) ops.push({ do: 'list', watcher: 0 }, { do: 'list', watcher: 0 });
  // What a standby lists before the leader has written all that it knows is a gap.
  if (random.chance(0.7)) ops.push({ do: 'publish', watcher: 0, what: 'all' });
  if (standby && random.chance(0.8)) ops.push({ do: 'list', watcher: 1 }, { do: 'list', watcher: 1 });
  return ops;
}

function draw(table: Table, total: number, random: Random): Op {
  let left = random.next() * total;
  for (const [weight, make] of table) {
    left -= weight;
    if (left < 0) return make(random);
  }
  return { do: 'stalledCheck' };
}

function upgrade(random: Random): Op {
  const used = refs(random);
  const [first, ...others] = used;
  return {
    do: 'upgrade',
    source: first === undefined ? 's0' : random.pick([first, ...others]),
    data: random.pick(DATA),
    workload: workload(random),
    refs: used,
  };
}
