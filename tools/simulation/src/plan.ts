/** What happens in a run, and when. It is made from the seed before the run begins, so that steps can be left out to find a smaller story. */
import { optionsOf, type Option } from './options.ts';
import { Random } from './random.ts';
import { SERVERS, type LateKinds, type ServerName } from './stale-servers.ts';
import {
  LETTERS,
  NAMESPACES,
  COMMON_SOURCES,
  WORKLOADS,
  type Letter,
  type SourceRef,
  type WorkloadRef,
} from './world/shapes.ts';
import { waitSteps, type WaitDeed } from './pods/wait-steps.ts';
import { badSteps, type BadDeed } from './world/bad-data.ts';
import { refusedKindSteps, type RefusedKindDeed } from './world/refused-kinds.ts';
import { sharingSteps } from './world/sharing.ts';
import { removedLabelSteps } from './world/removed-labels.ts';
import { quarrel } from './world/quarrel.ts';
import { rescopeSteps, type RescopeDeed } from './world/rescoped.ts';
import { upgradeSteps, type UpgradeDeed } from './world/upgraded.ts';
import type { Asking } from './world/objects.ts';
import { WORKLOAD_HOLDS, type WorkloadHold } from './world/reload-holds.ts';

type Namespace = (typeof NAMESPACES)[number];

export type Deed =
  | BadDeed
  | RefusedKindDeed
  | RescopeDeed
  | UpgradeDeed
  | WaitDeed
  | {
      readonly do: 'writeSource';
      readonly source: SourceRef;
      readonly letter: Letter;
      /** Of a class: virtual milliseconds from one pod that shows it to the next. */
      readonly pace?: number;
    }
  | { readonly do: 'touchSource'; readonly source: SourceRef }
  | { readonly do: 'deleteSource'; readonly source: SourceRef }
  | { readonly do: 'labelNamespace'; readonly on: boolean }
  | {
      readonly do: 'ignoreSource' | 'matchSource' | 'labelSource';
      readonly source: SourceRef;
      readonly on: boolean;
    }
  | {
      readonly do: 'waveSource';
      readonly source: SourceRef;
      readonly on: boolean;
      readonly isBaked: boolean;
    }
  | {
      readonly do: 'createWorkload' | 'replaceWorkload';
      readonly workload: WorkloadRef;
      readonly refs: readonly SourceRef[];
      readonly asking: Asking;
    }
  | {
      readonly do: 'deleteWorkload' | 'touchWorkload' | 'scaleWorkload' | 'restartWorkload';
      readonly workload: WorkloadRef;
    }
  | { readonly do: 'ignoreWorkload' | 'pause'; readonly workload: WorkloadRef; readonly on: boolean }
  | { readonly do: 'request' | 'approve'; readonly workload: WorkloadRef }
  | { readonly do: 'holdWorkload'; readonly workload: WorkloadRef; readonly hold: WorkloadHold | null }
  /** Of the installation: everywhere. */
  | { readonly do: 'holdNamespace'; readonly isAll: boolean; readonly on: boolean }
  | { readonly do: 'setPeriod'; readonly workload: WorkloadRef; readonly period: Period }
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
  | { readonly do: 'strip'; readonly what: 'marker' | 'record' | 'both'; readonly times: number }
  | { readonly do: 'moveApi'; readonly which: 0 | 1 | 2 | 3; readonly server: ServerName }
  | {
      readonly do: 'lagApi';
      readonly server: ServerName;
      readonly kinds: LateKinds;
      readonly by: number;
      readonly for: number;
    }
  | { readonly do: 'cutOffApi'; readonly server: ServerName; readonly for: number }
  /** The hash keys are turned over, and the processes restarted one by one, so many virtual milliseconds apart. */
  | { readonly do: 'turnKeysOver'; readonly pace: number }
  | { readonly do: 'backUpEtcd' }
  | { readonly do: 'restoreEtcd'; readonly bump: number }
  | { readonly do: 'failOverRedis'; readonly behind: number }
  | { readonly do: 'cutWatches' | 'cutRedis' | 'compact' | 'flushRedis' | 'setRedisBack' }
  | {
      readonly do:
        | 'slowApi'
        | 'faultyApi'
        | 'slowRedis'
        | 'faultyRedis'
        | 'faultyReceiver'
        | 'apiDown'
        | 'redisDown'
        | 'redisFull';
      readonly for: number;
    }
  | { readonly do: 'clockJump'; readonly which: 0 | 1 | 2 | 3; readonly by: number };

/** For how long a reload holds a Deployment back; `null`: it does not. The last one cannot be used. */
export type Period = '5s' | '20s' | '5minutes' | null;

export type Step = Deed & { readonly at: number; readonly namespace: Namespace };

export interface Plan {
  readonly seed: number;
  /** What is there before Reroll is installed. */
  readonly before: readonly Step[];
  readonly steps: readonly Step[];
  readonly flags: readonly string[];
  readonly options: readonly Option[];
  /** Virtual milliseconds from the start of the processes to the end of the last step. */
  readonly length: number;
}

type Maker = (random: Random) => Deed;

const which = (random: Random): 0 | 1 => random.pick([0, 1] as const);
const source = (random: Random): SourceRef => random.pick(COMMON_SOURCES);
const workload = (random: Random): WorkloadRef => random.pick(WORKLOADS);
const letter = (random: Random): Letter => random.pick(LETTERS);
/** Makes the bad data of a seed, and who waits in it, independent of all else. */
const BAD = 0xbad;
const WAIT = 0x3a17;
const REFUSED_KINDS = 0x0ff;
const UPGRADED = 0x134;
const PAUSABLE = 'Deployment/web';
/** Of these Reroll shows in the pod template which request it has done. */
const REQUESTED = ['Deployment/web', 'StatefulSet/db', 'DaemonSet/agent', 'Rollout/shop'] as const;
const WAVED = ['ConfigMap/app', 'Secret/token'] as const;
const span = (random: Random): number => random.pick([300, 2_000, 2_000, 8_000, 20_000] as const);

function refs(random: Random): SourceRef[] {
  const some = COMMON_SOURCES.filter(() => random.chance(0.6));
  return some.length > 0 ? some : [COMMON_SOURCES[0]];
}

function asking(random: Random, of: WorkloadRef): Asking {
  const restart = of.startsWith('Rollout/') && random.chance(0.4) ? { restart: true } : {};
  const how = random.pick([
    'auto',
    'auto',
    'auto',
    'auto',
    'named',
    'pattern',
    'search',
    'excluding',
    'autoOfSecrets',
    'autoOfConfigMapsOnly',
    'notAuto',
    'namedAndAuto',
    'nothing',
  ] as const);
  return how === 'named' || how === 'namedAndAuto' || how === 'excluding'
    ? { how, sources: refs(random), ...restart }
    : { how, ...restart };
}

const write: Maker = (r) => ({
  do: 'writeSource',
  source: source(r),
  letter: letter(r),
  pace: r.pick([0, 0, 300, 3_000] as const),
});

const made =
  (what: 'createWorkload' | 'replaceWorkload'): Maker =>
  (r) => {
    const of = workload(r);
    return { do: what, workload: of, refs: refs(r), asking: asking(r, of) };
  };
const create = made('createWorkload');

const ask: Maker = (r) => {
  const of = workload(r);
  return { do: 'ask', workload: of, asking: asking(r, of) };
};
const createPausable: Maker = (r) => ({
  do: 'createWorkload',
  workload: PAUSABLE,
  refs: refs(r),
  asking: { how: 'auto' },
});

const setPeriod: Maker = (r) => ({
  do: 'setPeriod',
  workload: PAUSABLE,
  period: r.pick(['5s', '5s', '20s', '20s', '5minutes', null] as const),
});

const clockJump: Maker = (r) => ({
  do: 'clockJump',
  which: r.pick([0, 1, 2, 3] as const),
  by: r.pick([-120_000, -3_000, 3_000, 120_000] as const),
});

const server = (random: Random): ServerName => random.pick(SERVERS);

const strip: Maker = (r) => ({
  do: 'strip',
  what: r.pick(['marker', 'marker', 'both', 'record'] as const),
  times: r.pick([1, 1, 4, 10] as const),
});

const lagApi: Maker = (r) => ({
  do: 'lagApi',
  server: server(r),
  kinds: r.pick(['sources', 'others', 'all'] as const),
  by: r.pick([50, 500, 2_000] as const),
  for: span(r),
});
type Weighted = readonly (readonly [number, Maker])[];

/** What people do to their namespaces, with weights. */
const DEEDS: Weighted = [
  [30, write],
  [4, (r) => ({ do: 'touchSource', source: source(r) })],
  [3, (r) => ({ do: 'deleteSource', source: source(r) })],
  [1, (r) => ({ do: 'ignoreSource', source: source(r), on: r.chance(0.5) })],
  [3, (r) => ({ do: 'matchSource', source: source(r), on: r.chance(0.7) })],
  [1, (r) => ({ do: 'ignoreWorkload', workload: workload(r), on: r.chance(0.7) })],
  [6, create],
  [3, made('replaceWorkload')],
  [2, (r) => ({ do: 'deleteWorkload', workload: workload(r) })],
  [3, (r) => ({ do: 'touchWorkload', workload: workload(r) })],
  [2, (r) => ({ do: 'scaleWorkload', workload: workload(r) })],
  [5, (r) => ({ do: 'editTemplate', workload: workload(r), refs: r.chance(0.4) ? refs(r) : undefined })],
  [2, (r) => ({ do: 'restartWorkload', workload: workload(r) })],
  [3, ask],
];

const askBadly: Maker = (r) => ({
  do: 'ask',
  workload: workload(r),
  asking: { how: r.pick(['partlyReadable', 'unreadable', 'excessive', 'full', 'full'] as const) },
});

const FAULTY_RECEIVER: Weighted = [[3, (r) => ({ do: 'faultyReceiver', for: span(r) })]];

/** What else they do where the install has an option. */
const DEEDS_WITH: { readonly [Name in Option]?: Weighted } = {
  pauses: [
    [8, setPeriod],
    [2, (r) => ({ do: 'pause', workload: PAUSABLE, on: r.chance(0.4) })],
  ],
  requests: [[8, (r) => ({ do: 'request', workload: r.pick(REQUESTED) })]],
  holds: [
    [
      12,
      (r) => ({
        do: 'holdWorkload',
        workload: r.pick(REQUESTED),
        hold: r.chance(0.8) ? r.pick(WORKLOAD_HOLDS) : null,
      }),
    ],
    [4, (r) => ({ do: 'approve', workload: r.pick(REQUESTED) })],
    [4, (r) => ({ do: 'holdNamespace', isAll: r.chance(0.3), on: r.chance(0.6) })],
  ],
  waves: [
    [10, (r) => ({ do: 'waveSource', source: r.pick(WAVED), on: r.chance(0.8), isBaked: r.chance(0.5) })],
    [10, (r) => ({ do: 'writeSource', source: r.pick(WAVED), letter: letter(r) })],
  ],
  sourceLabels: [[6, (r) => ({ do: 'labelSource', source: source(r), on: r.chance(0.6) })]],
  namespaceLabels: [[6, (r) => ({ do: 'labelNamespace', on: r.chance(0.6) })]],
  hashKey: [[4, (r) => ({ do: 'turnKeysOver', pace: r.pick([0, 2_000, 10_000] as const) })]],
  alerts: FAULTY_RECEIVER,
  webhook: FAULTY_RECEIVER,
  oddAnnotations: [
    [8, askBadly],
    [4, ask],
  ],
};

/** What goes wrong without anything being in doubt afterwards. */
const FAULTS: Weighted = [
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
  [4, (r) => ({ do: 'moveApi', which: r.pick([0, 1, 2, 3] as const), server: server(r) })],
  [2, lagApi],
  [2, (r) => ({ do: 'cutOffApi', server: server(r), for: span(r) })],
  [2, strip],
];

/** After these, what is not recorded is in doubt. */
const LOSSES: Weighted = [
  [3, (r) => ({ do: 'kill', whom: 'watcher', which: which(r), for: span(r) })],
  [1, () => ({ do: 'flushRedis' })],
  [1, () => ({ do: 'setRedisBack' })],
  [2, (r) => ({ do: 'failOverRedis', behind: r.pick([10, 100, 500] as const) })],
];

function weighted(table: Weighted, random: Random): Deed {
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

/**
 * In some runs a part of the steps comes after a backup of etcd, and is lost when that is restored. Returns by how much the steps after
 * the restore are later than before: the Lease has to be renewed meanwhile, or nobody can tell.
 */
function insertRestore(steps: Step[], random: Random): number {
  if (random.chance(0.7)) return 0;
  const [backedUp, restored] = [0.3, 0.7].map((part) => Math.floor(part * steps.length)) as [number, number];
  const later = random.pick([8_000, 15_000, 30_000] as const);
  const [lost, last] = [steps.slice(backedUp, restored), steps.slice(restored)];
  const at = lost[0]?.at ?? 0;
  const namespace = NAMESPACES[0];
  const bump = random.pick([0, 0, 1_000] as const);
  steps.splice(
    backedUp,
    steps.length,
    { at, namespace, do: 'backUpEtcd' },
    ...lost,
    { at: (lost.at(-1)?.at ?? at) + later, namespace, do: 'restoreEtcd', bump },
    ...last.map((step) => ({ ...step, at: step.at + later })),
  );
  return later;
}

/** Sources with waves, and workloads of each kind that use them. */
function wavedIn(namespace: Namespace, random: Random): Step[] {
  const sources = WAVED.flatMap((source): Step[] => [
    { at: 0, namespace, source, do: 'writeSource', letter: 'A' },
    { at: 0, namespace, source, do: 'waveSource', on: true, isBaked: random.chance(0.5) },
  ]);
  const asking = { how: 'auto' } as const;
  return [
    ...sources,
    ...REQUESTED.map((of): Step => {
      return { at: 0, namespace, do: 'createWorkload', workload: of, refs: WAVED, asking };
    }),
  ];
}

/** A held workload of each kind. */
function heldIn(namespace: Namespace, random: Random): Step[] {
  const asking = { how: 'auto' } as const;
  return REQUESTED.flatMap((of): Step[] => [
    { at: 0, namespace, do: 'createWorkload', workload: of, refs: refs(random), asking },
    { at: 0, namespace, do: 'holdWorkload', workload: of, hold: random.pick(WORKLOAD_HOLDS) },
  ]);
}

function beforeOf(random: Random, options: readonly Option[]): Step[] {
  const before: Step[] = [];
  for (const each of NAMESPACES)
    for (const ref of COMMON_SOURCES)
      if (random.chance(0.8))
        before.push({ at: 0, namespace: each, do: 'writeSource', source: ref, letter: letter(random) });
  for (let count = random.between(2, 12); count > 0; count -= 1)
    before.push({ at: 0, namespace: random.pick(NAMESPACES), ...create(random) });
  if (options.includes('holds')) before.push(...NAMESPACES.flatMap((each) => heldIn(each, random)));
  if (options.includes('waves')) before.push(...NAMESPACES.flatMap((each) => wavedIn(each, random)));
  if (options.includes('pauses'))
    for (const namespace of NAMESPACES)
      before.push(
        { at: 0, namespace, ...createPausable(random) },
        { at: 0, namespace, ...setPeriod(random) },
      );
  return before;
}

export function planOf(seed: number): Plan {
  const random = new Random(seed);
  const namespace = (): Namespace => random.pick(NAMESPACES);
  const options = optionsOf(seed);
  const before = beforeOf(random, options);
  const deeds = [...DEEDS, ...options.flatMap((option) => DEEDS_WITH[option] ?? [])];
  const { faults, losses } = faultsOf(random);
  // Some runs begin before the processes are in sync.
  let at: number = random.pick([0, 500, 3_000, 8_000] as const);
  const pace = random.pick([30, 200, 1_000] as const);
  const steps: Step[] = [];
  for (let count = random.between(10, 50); count > 0; count -= 1) {
    at += Math.floor(-Math.log(1 - random.next()) * pace) + (random.chance(0.03) ? 15_000 : 0);
    const kind = random.next();
    const table = kind < faults ? FAULTS : kind < faults + losses ? LOSSES : deeds;
    steps.push({ at, namespace: namespace(), ...weighted(table, random) });
  }
  if (losses > 0) at += insertRestore(steps, random);
  if (options.includes('quarrels')) {
    const from = Math.floor(random.next() * at);
    steps.push(...quarrel(random, from));
    at = Math.max(at, steps.at(-1)?.at ?? at);
  }
  steps.push(...badSteps(new Random(seed ^ BAD), { options, length: at }));
  steps.push(...waitSteps(new Random(seed ^ WAIT), { options, steps, length: at }));
  steps.push(...refusedKindSteps(new Random(seed ^ REFUSED_KINDS), { length: at }));
  steps.push(...upgradeSteps(new Random(seed ^ UPGRADED), { length: at }));
  steps.push(...rescopeSteps(seed, { length: at }));
  steps.push(...removedLabelSteps(seed, { options, length: at }));
  steps.push(...sharingSteps(seed, { length: at }));
  at = Math.max(at, ...steps.map((step) => step.at));
  const debounce = random.pick(['0', '0', '500ms', '2s'] as const);
  return { seed, before, steps, flags: [`--debounce=${debounce}`], options, length: at + 1_000 };
}
