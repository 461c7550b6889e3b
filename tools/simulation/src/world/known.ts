/** What the checker knows and is given, and copies of it for an etcd that is restored. */
import { Conflict } from './conflict.ts';
import { isFull } from './objects.ts';
import type { Recreations } from './recreations.ts';
import type { Shown } from './restarts.ts';
import type { Rules } from './rules.ts';
import type { SeenClasses } from './seen-classes.ts';
import type { KubeObject, Letter } from './shapes.ts';
import type { Since } from './since.ts';

export interface Workload {
  shown: Shown;
  /** In virtual milliseconds. */
  readonly createdAt: number;
  /** When its pods were started, in virtual milliseconds. */
  startedAt: number;
  /** When it, or the object with its template, was last written, in virtual milliseconds. */
  writtenAt: number;
  readonly since: Map<string, Since>;
  /** The sources that were due when Reroll last reloaded it, and whose data its pods did not have. */
  reloadedFor: readonly string[];
  readonly conflict: Conflict;
}

export function newWorkload(shown: Shown, now: number): Workload {
  const none = { since: new Map(), reloadedFor: [], conflict: new Conflict() };
  return { shown, createdAt: now, startedAt: 0, writtenAt: now, ...none };
}

export function newSince(inPods: Letter | undefined): Since {
  const never = -Infinity;
  return { inPods, due: 'no', why: '', inGap: 0, endedAt: never, overtakenAt: never };
}

/** Whether it cannot be reloaded until somebody edits it: somebody undoes every reload, or what a reload adds has no room. */
export function isStuck({ conflict, shown: { object, holder } }: Workload): boolean {
  return conflict.isContested || isFull(object) || (holder !== undefined && isFull(holder));
}

export function isOfNamespace(source: string, { shown }: Workload): boolean {
  return source.split('/')[1] === shown.object.metadata.namespace;
}

export interface TruthBy {
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** Up to when everybody has been able to know what was written for so many milliseconds. */
  readonly knownUntil: (wait: number) => number;
  /** Up to when every watch has shown what was written for so many milliseconds. */
  readonly watchedUntil: (wait: number) => number;
  /** Whether the watches of the kind cannot be resumed, and everything that they have missed is listed. */
  readonly isListedAgain: (kind: string) => boolean;
  readonly rules: Rules;
  /** Whether the write is what somebody has requested. */
  readonly isAsked: (before: KubeObject | undefined, after: KubeObject | undefined) => boolean;
}

export interface TruthBackup {
  readonly sources: ReadonlyMap<string, KubeObject>;
  readonly workloads: ReadonlyMap<string, Workload>;
  readonly objects: ReadonlyMap<string, KubeObject>;
  readonly recreations: Recreations;
  readonly classes: SeenClasses;
}

/** Nothing that is written to the one changes the other. */
export function copyOf(backup: TruthBackup): TruthBackup {
  return {
    sources: new Map(backup.sources),
    workloads: new Map([...backup.workloads].map(([key, workload]) => [key, copied(workload)])),
    objects: new Map(backup.objects),
    recreations: backup.recreations.clone(),
    classes: backup.classes.clone(),
  };
}

export function refill<Value>(map: Map<string, Value>, by: ReadonlyMap<string, Value>): void {
  map.clear();
  for (const [key, value] of by) map.set(key, value);
}

function copied(workload: Workload): Workload {
  const since = new Map([...workload.since].map(([source, each]) => [source, { ...each }]));
  return { ...workload, since, conflict: workload.conflict.clone() };
}
