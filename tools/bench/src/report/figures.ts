import type { Targets } from '../scenarios.ts';

interface Figure {
  readonly label: string;
  readonly unit: '' | 'ms' | 's' | 'MB' | 'x' | '%';
  readonly digits: number;
}

/** Every number that a scenario can end with, in the order in which tables show them. */
export const FIGURES = {
  rolled: { label: 'workloads reloaded', unit: '', digits: 0 },
  missed: { label: 'missed', unit: '', digits: 0 },
  duplicates: { label: 'rollouts too many', unit: '', digits: 0 },
  startupRollouts: { label: 'rollouts caused by starting up', unit: '', digits: 0 },
  totalMs: { label: 'first write to last patch', unit: 'ms', digits: 0 },
  floorMs: { label: 'the floor (GET and PATCH alone, best of three)', unit: 'ms', digits: 0 },
  ratio: { label: 'times the floor', unit: 'x', digits: 2 },
  cpuRatio: { label: 'CPU time of all processes against that of the floor', unit: 'x', digits: 2 },
  ownCpuPercent: { label: 'share of the reloader and Redis in it', unit: '%', digits: 0 },
  ownCpuMs: { label: 'CPU of the reloader and Redis for a reloaded workload', unit: 'ms', digits: 2 },
  p50Ms: { label: 'change to patch, p50', unit: 'ms', digits: 0 },
  p90Ms: { label: 'change to patch, p90', unit: 'ms', digits: 0 },
  p99Ms: { label: 'change to patch, p99', unit: 'ms', digits: 0 },
  maxMs: { label: 'change to patch, longest', unit: 'ms', digits: 0 },
  singleP50Ms: { label: 'one change when idle, p50', unit: 'ms', digits: 1 },
  singleP90Ms: { label: 'one change when idle, p90', unit: 'ms', digits: 1 },
  singleMaxMs: { label: 'one change when idle, longest', unit: 'ms', digits: 1 },
  firstMs: { label: 'first change after start-up', unit: 'ms', digits: 1 },
  firstVersusLater: { label: 'that against the p50 of later ones', unit: 'x', digits: 2 },
  singleVersusIdle: { label: 'its p50 against that of `idle`', unit: 'x', digits: 2 },
  requestsPerRolled: { label: 'requests for a reloaded workload, without Events', unit: '', digits: 2 },
  eventsPerRolled: { label: 'Events for a reloaded workload', unit: '', digits: 2 },
  lists: { label: 'LISTs after start-up', unit: '', digits: 0 },
  foreignPercent: { label: 'CPU that was taken by something else meanwhile', unit: '%', digits: 0 },
  syncSeconds: { label: 'start of the watcher until in sync', unit: 's', digits: 1 },
  watcherSyncMb: { label: 'resident memory of the watcher when in sync', unit: 'MB', digits: 0 },
  watcherPeakMb: { label: 'resident memory of the watcher, peak of the whole run', unit: 'MB', digits: 0 },
  leaderWithoutMb: { label: 'resident memory of the leader without the Secrets', unit: 'MB', digits: 0 },
  leaderWithMb: { label: 'resident memory of the leader with the Secrets', unit: 'MB', digits: 0 },
  leaderAboveMb: { label: 'difference', unit: 'MB', digits: 0 },
  idleMaxMb: { label: 'largest process of the reloader when idle', unit: 'MB', digits: 0 },
  smallInstallMb: { label: 'one watcher, one worker and Redis when idle', unit: 'MB', digits: 0 },
} as const satisfies Record<string, Figure>;

export type FigureId = keyof typeof FIGURES;

export type Figures = Partial<Record<FigureId, number>>;

const IDS = Object.keys(FIGURES) as FigureId[];

/** The figures where fewer is not the point of several runs, but that none is worse. */
const WORST_OF: ReadonlySet<FigureId> = new Set(['missed', 'duplicates', 'lists', 'foreignPercent']);

/** One line of a table, as text. */
export interface FigureRow {
  readonly id: FigureId;
  readonly label: string;
  readonly value: string;
  /** '' when nothing is asked. */
  readonly target: string;
  /** Undefined when nothing is asked, or the figure could not be had. */
  readonly met: boolean | undefined;
}

/** One value of each figure from those of several runs: how it is joined is the caller's. */
export function combine(runs: readonly Figures[], join: (values: readonly number[]) => number): Figures {
  const combined: Figures = {};
  for (const id of IDS) {
    const values = runs.map((run) => run[id]).filter((value) => value !== undefined);
    if (values.length > 0) combined[id] = WORST_OF.has(id) ? Math.max(...values) : join(values);
  }
  return combined;
}

/** A row for each figure that was had or asked for. */
export function figureRows(figures: Figures, targets: Targets): FigureRow[] {
  return IDS.filter((id) => figures[id] !== undefined || targets[id] !== undefined).map((id) => {
    const target = targets[id];
    const value = Number.isNaN(figures[id]) ? undefined : figures[id];
    return {
      id,
      label: FIGURES[id].label,
      value: value === undefined ? 'not measured' : show(id, value),
      target: target === undefined ? '' : targetText(id, target),
      met: value === undefined || target === undefined ? undefined : meets({ id, value, target }),
    };
  });
}

/** Judged as shown: 3.001 requests read 3.00, which is 3. */
function meets(figure: { id: FigureId; value: number; target: number }): boolean {
  return Number(figure.value.toFixed(FIGURES[figure.id].digits)) <= figure.target;
}

function targetText(id: FigureId, target: number): string {
  const { unit } = FIGURES[id];
  return target === 0 ? 'none' : `at most ${withUnit(String(target), unit)}`;
}

export function show(id: FigureId, value: number): string {
  const { digits, unit } = FIGURES[id];
  return withUnit(value.toFixed(digits), unit);
}

function withUnit(value: string, unit: string): string {
  if (unit === '') return value;
  return unit === 'x' || unit === '%' ? `${value}${unit}` : `${value} ${unit}`;
}
