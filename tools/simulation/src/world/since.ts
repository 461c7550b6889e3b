/** What is due for a workload because of one source, and how a write changes it. */
import { isClass, letterAt } from './objects.ts';
import { keyOf, type KubeObject, type Letter } from './shapes.ts';

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
  /** The source was written in the gap in which the pods were started. A watcher that listed then keeps what it concluded until it leads. */
  isUnordered?: boolean;
  /** How often the source was changed in the present gap. */
  inGap: number;
  /** When it ceased to be a dependency, in virtual milliseconds: who has decided before may still reload for it. */
  endedAt: number;
  /** When its pods were started with the data while somebody may have been about to restart them for it, in virtual milliseconds. */
  overtakenAt: number;
  /** It was due when its pods were started. */
  wasDue?: boolean;
  /** Its pods were started while watches were broken, and after the source was written; nothing is recorded of it yet. */
  isListed?: boolean;
  /** The resourceVersion of the source, if times show that those pods have its data. Undefined if they do not. */
  settledBy?: string | undefined;
}

/** To and fro in a gap looks like a write of the metadata, and what is not recorded cannot be told from what is new. */
export function inGap(since: Since, { isKnown, isThere }: { isKnown: boolean; isThere: boolean }): void {
  since.inGap += 1;
  // Nobody can tell any more whether the pods have it.
  if (!isKnown && !isThere) Object.assign(since, { inPods: undefined, isUnsure: true });
  if (since.due === 'must' && (!isKnown || since.inGap > 1)) since.due = 'may';
}

/**
 * It has become a dependency. The data of now counts as that of the pods, whatever they have, and the creation of a source that is
 * not there restarts nothing.
 */
export function begun(since: Since, now: Letter | undefined): void {
  if (now !== since.inPods) since.due = 'may';
  since.inPods = now;
}

/** Nobody can tell whether its pods were started, and so whether they have what was due. */
export function startedInDoubt(sinces: ReadonlyMap<string, Since>): void {
  for (const each of sinces.values()) if (each.wasDue) each.due = 'may';
}

/** Nothing has to be done for as long as it is held, and whoever has seen it otherwise may still do it. */
export function held(since: Since): void {
  if (since.due === 'must') since.due = 'may';
}

/** The pods have what is no more. `is`: a source that is not there is a dependency. */
export function deleted(since: Since, is: boolean): void {
  if (since.inPods === undefined) return;
  since.due = is ? 'must' : 'may';
  since.why = 'it was deleted';
}

interface Written {
  readonly isDependency: boolean;
  /** Data of a source that was not there counts. */
  readonly isNew: boolean;
  /** No watch shows that the pods were started with other data than that which is recorded, and which the source has again. */
  readonly isBack: boolean;
  /** No watch shows that it came to exist, so that a list takes it for newer than every workload that is there. */
  readonly isLate: boolean;
  readonly from: Letter | undefined;
  readonly after: KubeObject | undefined;
}

/** The source was written while it existed or came to exist. */
export function written(since: Since, change: Written): void {
  const to = letterAt(change.after);
  if (to === undefined || to === since.inPods) {
    // Who reads it now finds nothing to reload for, but somebody may have read what it was in between.
    if (since.due === 'must') since.due = 'may';
  } else if (since.inPods === undefined && !change.isNew) {
    since.inPods = to;
    if (change.isLate) since.due = 'may';
  } else changed(since, change, to);
}

/** The source has other data than the pods were started with. */
function changed(since: Since, { isDependency, isNew, isBack, from, after }: Written, to: Letter): void {
  if (isDependency && from !== to) {
    // What looks as if the pods had waited for it is listed as stale, and that is all.
    const isAdopted = since.isListed === true && !isNew && after !== undefined && isWrittenOnce(after);
    since.due = isAdopted || isBack ? 'may' : 'must';
    since.why = `it was changed from ${from ?? 'nothing'} to ${to}`;
  } else if (since.due === 'no') since.due = 'may';
}

/** Its pods were started while watches were broken: only a list shows that, and what was written meanwhile looks later. */
export function startedUnwatched(
  since: Since,
  at: { workload: KubeObject; source: KubeObject | undefined; onCreate: boolean },
): void {
  since.isListed = true;
  since.settledBy = at.onCreate ? undefined : settledBy(at.workload, at.source);
}

/** Whether nobody saw which came first, the pods or the data, and no times tell. */
export function isUnclear(since: Since, source: KubeObject | undefined): boolean {
  if (since.isUnordered === true) return true;
  const isSettled = since.settledBy !== undefined && since.settledBy === source?.metadata.resourceVersion;
  return since.isListed === true && !isSettled;
}

/**
 * Returns the resourceVersion of the source if times tell that a workload that is created now needs nothing of it: it was written once,
 * so the pods have its only state. The times of a class are those of its statuses, and tell nothing.
 */
function settledBy(workload: KubeObject, source: KubeObject | undefined): string | undefined {
  if (source === undefined || isClass(keyOf(source))) return undefined;
  const { creationTimestamp: created = '', resourceVersion } = source.metadata;
  const isLater = (workload.metadata.creationTimestamp ?? '') >= created;
  return isLater && isWrittenOnce(source) ? resourceVersion : undefined;
}

/** Whether times show no write after the second of its creation. */
function isWrittenOnce({ metadata: { creationTimestamp, managedFields = [] } }: KubeObject): boolean {
  return managedFields.length > 0 && managedFields.every(({ time }) => time === creationTimestamp);
}
