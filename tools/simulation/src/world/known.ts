/** What the checker knows, and copies of it for an etcd that is restored. */
import type { Conflict } from './conflict.ts';
import type { Recreations } from './recreations.ts';
import type { Shown } from './restarts.ts';
import type { SeenClasses } from './seen-classes.ts';
import type { KubeObject, Letter } from './shapes.ts';

/** Of one workload and one source that it depends on, since its pods were started. */
export interface Since {
  /** The data that the pods have. `undefined`: the source did not exist. */
  inPods: Letter | undefined;
  /**
   * `no`: nothing to do. `must`: they have to be restarted. `may`: a restart is as right as none, for a reason that the documentation
   * states.
   */
  due: 'no' | 'must' | 'may';
  why: string;
  /** It is not known which data the pods have: a dry run has told of the source while it was written. */
  isUnsure?: boolean;
  /** How often the source was changed in the present gap. */
  inGap: number;
  /** When it ceased to be a dependency, in virtual milliseconds: who has decided before may still reload for it. */
  endedAt: number;
  /** When its pods were started with the data while somebody may have been about to restart them for it, in virtual milliseconds. */
  overtakenAt: number;
}

export interface Workload {
  shown: Shown;
  /** When its pods were started, in virtual milliseconds. */
  startedAt: number;
  readonly since: Map<string, Since>;
  readonly conflict: Conflict;
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
