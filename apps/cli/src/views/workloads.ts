import type { HistoryEntry, Source, Workload, WorkloadSummary } from '@reroll/shared/api/workloads';
import { age } from '../output/age.ts';
import { toneOf } from '../output/color.ts';
import type { ListView } from '../output/print.ts';
import { toned, type Cell, type Column } from '../output/table.ts';
import type { ViewOptions } from './changes.ts';
import { fullName, shortHash, shortKey, shortName } from './names.ts';

export function workloadsView({ now, namespaces }: ViewOptions): ListView<WorkloadSummary> {
  const namespace: Column<WorkloadSummary> = { title: 'NAMESPACE', cell: (each) => each.namespace };
  return {
    nameOf: fullName,
    columns: [
      ...(namespaces ? [namespace] : []),
      { title: 'NAME', cell: shortName },
      { title: 'SOURCES', cell: ({ sources }) => String(sources) },
      { title: 'DUE', cell: dueCell },
      { title: 'ROLLOUT', cell: ({ rollout }) => toned(rollout, toneOf(rollout)) },
      { title: 'RELOADED', cell: ({ lastReload }) => (lastReload ? age(lastReload.at, now) : '<unknown>') },
      { title: 'REASON', cell: reasonOf },
      { title: 'CHANGE', wide: true, cell: ({ lastReload }) => lastReload?.change ?? '' },
      { title: 'PAUSED UNTIL', wide: true, cell: ({ pausedUntil }) => pausedUntil ?? '' },
      { title: 'CONTESTED', wide: true, cell: ({ contested }) => (contested ? 'yes' : 'no') },
    ],
  };
}

function dueCell(workload: WorkloadSummary): Cell {
  const due = isHeld(workload) ? 'held' : dueWord(workload);
  return toned(due, toneOf(due));
}

function dueWord({ due, stale, lastAttempt }: WorkloadSummary): string {
  if (lastAttempt !== null) return lastAttempt.state;
  return stale && due !== 'owed' ? 'stale' : (due ?? 'no');
}

function reasonOf(workload: WorkloadSummary): string {
  const { hold, leftAlone, lastAttempt, lastReload } = workload;
  return leftAlone ?? (isHeld(workload) ? hold : (lastAttempt ?? lastReload))?.reason ?? '';
}

function isHeld({ due, hold }: WorkloadSummary): boolean {
  return due === 'owed' && Boolean(hold);
}

type Fact = readonly [name: string, value: Cell];

export function workloadFacts(workload: Workload, now: number): Fact[] {
  const { rolloutInDetail, lastReload } = workload;
  return [
    ['Workload', `${shortName(workload)} in the namespace ${workload.namespace}`],
    ['Rollout', rolloutCell(rolloutInDetail)],
    ...pendingFacts(workload, now),
    ...annotationFacts('Annotation', workload.annotations),
    ...annotationFacts('Of its pods', workload.podAnnotations),
    ['Last reload', lastReload ? `${age(lastReload.at, now)} ago` : 'none in the history'],
  ];
}

export function annotationFacts(name: string, annotations: Readonly<Record<string, string>>): Fact[] {
  return Object.entries(annotations).map(([key, value]) => [name, `${key}=${value}`]);
}

/** `complete (Complete, 3 of 3 pods ready)`. */
export function rolloutCell({ state, code, ready, desired }: Workload['rolloutInDetail']): Cell {
  const pods = desired === undefined ? '' : `, ${ready ?? 0} of ${desired} pods ready`;
  return toned(`${state} (${code}${pods})`, toneOf(state));
}

/** What is pending, and what is unusual about the workload. */
export function pendingFacts(workload: Workload, now: number): Fact[] {
  const { due, stale, leftAlone, contested, pausedUntil, job } = workload;
  const found: Fact[] = [
    ['Pending', PENDING[due ?? 'none'] ?? ''],
    ...holdFacts(workload),
    ...attemptFacts(workload, now),
  ];
  if (stale)
    found.push([
      'Stale',
      toned(
        'its pods may have older data than the record says; not reloaded since Reroll adopted it',
        'waiting',
      ),
    ]);
  if (leftAlone !== null) found.push(['Left alone', leftAlone]);
  if (contested) found.push(['Contested', 'another controller keeps removing its marker']);
  if (pausedUntil !== null) found.push(['Paused until', pausedUntil]);
  if (job !== null) {
    found.push(['Job', `${job.id} (${job.state}${job.until === null ? '' : `, until ${job.until}`})`]);
  }
  return found;
}

function holdFacts(workload: Workload): Fact[] {
  const { hold, namespace } = workload;
  if (hold === null) return [];
  const held: Fact = ['Held', toned(`${hold.reason}: ${hold.detail}`, 'waiting')];
  if (hold.id === null) return [held];
  return [held, ['Approve', `kubectl reroll approve ${shortName(workload)} ${hold.id} -n ${namespace}`]];
}

function attemptFacts({ lastAttempt }: Workload, now: number): Fact[] {
  if (lastAttempt === null) return [];
  const { state, at, reason, error } = lastAttempt;
  const text = `${state} ${age(at, now)} ago: ${reason}${error === null ? '' : ` (${error})`}`;
  return [['Last attempt', toned(text, toneOf(state))]];
}

const PENDING: Readonly<Record<string, Cell>> = {
  owed: toned('a reload', 'waiting'),
  correct: 'only a correction of its record',
  none: 'nothing',
};

type Dependency = Workload['sourcesInDetail'][number];
type SourceDependency = Source['workloadsInDetail'][number];

const DEPENDENCY_COLUMNS: readonly Column<Omit<Dependency, 'source'>>[] = [
  { title: 'HOW', cell: ({ how }) => how },
  { title: 'RELOADS', cell: ({ rolls }) => yesNo(rolls) },
  { title: 'REASON', cell: ({ reason }) => reason },
  { title: 'DUE', cell: ({ due }) => toned(due ?? 'no', toneOf(due ?? '')) },
  { title: 'RECORDED', wide: true, cell: ({ recorded }) => shortHash(recorded) },
  { title: 'CURRENT', wide: true, cell: ({ current }) => shortHash(current) },
  { title: 'DETAIL', cell: ({ detail, exists }) => (exists ? detail : `does not exist; ${detail}`) },
];

export const DEPENDENCIES_OF_WORKLOAD: readonly Column<Dependency>[] = [
  { title: 'SOURCE', cell: ({ source }) => shortName(source) },
  ...DEPENDENCY_COLUMNS,
];

export const DEPENDENCIES_OF_SOURCE: readonly Column<SourceDependency>[] = [
  { title: 'WORKLOAD', cell: ({ workload }) => shortName(workload) },
  ...DEPENDENCY_COLUMNS,
];

export function yesNo(value: boolean): Cell {
  const text = value ? 'yes' : 'no';
  return toned(text, toneOf(text));
}

/** `of`: the object that the page is about, so that the other side is shown. */
export function historyColumns(of: 'workload' | 'source', now: number): readonly Column<HistoryEntry>[] {
  const other: Column<HistoryEntry> =
    of === 'workload'
      ? {
          title: 'SOURCE',
          cell: ({ source, rolled }) => (source ? shortName(source) : rolled.map(shortKey).join(', ')),
        }
      : { title: 'WORKLOAD', cell: ({ workload }) => shortName(workload) };
  return [
    { title: 'AGE', cell: ({ at }) => age(at, now) },
    { title: 'STATE', cell: ({ state }) => toned(state, toneOf(state)) },
    other,
    { title: 'CAUSE', cell: ({ cause }) => cause ?? '' },
    { title: 'REASON', cell: ({ reason }) => reason },
    { title: 'CHANGE', cell: ({ change }) => change ?? '' },
    { title: 'ERROR', wide: true, cell: ({ error }) => error ?? '' },
  ];
}
