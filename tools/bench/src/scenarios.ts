import type { FigureId } from './report/figures.ts';

/** Opaque Secrets that no workload uses; `bytes` is the size of the data of one. */
export interface SecretLoad {
  readonly count: number;
  readonly bytes: number;
}

/** The numbers of a scenario. */
export interface Load {
  readonly workloads: number;
  readonly namespaces: number;
  /** Workloads that use one source. */
  readonly sharing: number;
  readonly changes: number;
  readonly secrets?: SecretLoad | undefined;
}

/** How a scenario is measured; each has a function in `measure-*.ts`. */
export type Method = 'burst' | 'single' | 'secrets' | 'large';

/** What the project asks of a figure: at most so much. */
export type Targets = Readonly<Partial<Record<FigureId, number>>>;

/** A number, or the text that is known of it. */
export type Incumbent = Readonly<Partial<Record<FigureId, number | string>>>;

export interface Scenario {
  readonly name: ScenarioName;
  readonly about: string;
  readonly method: Method;
  readonly load: Load;
  /** Scenarios with the same word run one after the other on one cluster. */
  readonly cluster: string;
  /** Scenarios with the same word on one cluster use the same workloads. */
  readonly workSet: string;
  readonly controllerManager: boolean;
  /** Reroll is started with its default debounce instead of none. */
  readonly defaultDebounce?: true;
  readonly targets: Targets;
  /** What stakater/Reloader took for the same (`INCUMBENT`). */
  readonly incumbent?: Incumbent;
}

export const SCENARIO_NAMES = [
  'hundred',
  'thousand',
  'idle',
  'default',
  'shared',
  'secrets',
  'large',
] as const;

export type ScenarioName = (typeof SCENARIO_NAMES)[number];

const EACH_ONCE: Targets = { missed: 0, duplicates: 0 };
const FEW_REQUESTS: Targets = { requestsPerRolled: 2, eventsPerRolled: 1, lists: 0 };

/** Where the figures of stakater/Reloader come from. */
export const INCUMBENT =
  'stakater/Reloader at 655a2b38, built from source, in one run with an earlier Reroll on 2026-11-22: 2 cores, Kubernetes 1.36.3.';

const TEN_NAMESPACES = { workloads: 2000, namespaces: 10, sharing: 1 };
const COMMON = { cluster: 'common', workSet: 'ten', controllerManager: true };

/** The targets are those of the project's plan; the tables of docs/performance.md show them. */
export const SCENARIOS: Readonly<Record<ScenarioName, Scenario>> = {
  hundred: {
    ...COMMON,
    name: 'hundred',
    about: 'many changes at once',
    method: 'burst',
    load: { ...TEN_NAMESPACES, changes: 100 },
    targets: { ...EACH_ONCE, ratio: 1.5, ...FEW_REQUESTS },
    incumbent: { totalMs: 10_100, ratio: 33 },
  },
  thousand: {
    ...COMMON,
    name: 'thousand',
    about: 'many changes at once',
    method: 'burst',
    load: { ...TEN_NAMESPACES, changes: 1000 },
    targets: { ...EACH_ONCE, ratio: 1.2, ownCpuPercent: 25, ...FEW_REQUESTS },
    incumbent: { totalMs: 101_700, ratio: 22 },
  },
  idle: {
    ...COMMON,
    name: 'idle',
    about: 'one change at a time, idle in between',
    method: 'single',
    load: { ...TEN_NAMESPACES, changes: 40 },
    targets: { ...EACH_ONCE, singleP50Ms: 15, firstVersusLater: 2, ...FEW_REQUESTS },
    incumbent: { singleP50Ms: 16.5 },
  },
  default: {
    ...COMMON,
    name: 'default',
    about: 'one change at a time with the default debounce',
    method: 'single',
    load: { ...TEN_NAMESPACES, changes: 40 },
    defaultDebounce: true,
    targets: { ...EACH_ONCE, singleP50Ms: 150, ...FEW_REQUESTS },
    incumbent: { singleP50Ms: '60-110 ms, in a pod' },
  },
  shared: {
    ...COMMON,
    workSet: 'shared',
    name: 'shared',
    about: 'one source used by many workloads',
    method: 'burst',
    load: { workloads: 500, namespaces: 1, sharing: 500, changes: 1 },
    targets: { ...EACH_ONCE, ratio: 0.8, ...FEW_REQUESTS },
    incumbent: { totalMs: 98_200, ratio: 42 },
  },
  secrets: {
    name: 'secrets',
    about: 'memory with and without large Secrets',
    method: 'secrets',
    load: {
      workloads: 100,
      namespaces: 10,
      sharing: 1,
      changes: 10,
      secrets: { count: 3000, bytes: 50_000 },
    },
    cluster: 'secrets',
    workSet: 'ten',
    controllerManager: true,
    targets: { leaderAboveMb: 20, idleMaxMb: 150 },
  },
  large: {
    name: 'large',
    about: 'a large cluster, controller-manager off',
    method: 'large',
    load: { workloads: 100_000, namespaces: 100, sharing: 1, changes: 100 },
    cluster: 'large',
    workSet: 'hundred',
    controllerManager: false,
    targets: {
      syncSeconds: 60,
      watcherSyncMb: 250,
      watcherPeakMb: 300,
      singleVersusIdle: 1.5,
      ...EACH_ONCE,
      ratio: 2.5,
      ...FEW_REQUESTS,
    },
    incumbent: { totalMs: 10_400, watcherSyncMb: 346 },
  },
};

/** Number of changes made one at a time in a scenario of method `large`. */
export const LARGE_SINGLES = 40;

/** Sources of a load: those of one namespace are used in it only. */
export function sourceCount({ workloads, namespaces, sharing }: Load): number {
  const smaller = Math.floor(workloads / namespaces);
  const larger = workloads % namespaces;
  return larger * Math.ceil((smaller + 1) / sharing) + (namespaces - larger) * Math.ceil(smaller / sharing);
}

export type LoadOverrides = Readonly<
  Partial<Record<'workloads' | 'namespaces' | 'changes', number | undefined>>
>;

/** A scenario with some of its numbers replaced; its targets then say nothing and are dropped. */
export function withOverrides(scenario: Scenario, overrides: LoadOverrides): Scenario {
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined);
  if (given.length === 0) return scenario;
  return { ...scenario, load: { ...scenario.load, ...Object.fromEntries(given) }, targets: {} };
}

/** What is impossible about the numbers of a scenario, a sentence each. */
export function loadProblems({ name, load, method }: Scenario): string[] {
  const problems: string[] = [];
  if (load.namespaces > load.workloads) {
    problems.push(
      `${name}: expected at least one workload in each of ${load.namespaces} namespaces, given ${load.workloads} workloads`,
    );
  }
  const sources = sourceCount(load);
  const changes = method === 'large' ? Math.max(load.changes, LARGE_SINGLES) : load.changes;
  if (changes > sources) {
    problems.push(
      `${name}: expected at most as many changes as sources (${sources}), since each changes once, given ${changes}`,
    );
  }
  return problems;
}
