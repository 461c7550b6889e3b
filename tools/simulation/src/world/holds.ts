/** What is held back from Reroll: by a dry run, by annotations, or by the pause of a Deployment. It is told of every write. */
import { newMarks } from './marks.ts';
import { IGNORE, templateOf, typeOf } from './objects.ts';
import { keyOf, NAMESPACES, SOURCES, type KubeObject, type SourceRef } from './shapes.ts';
import type { Scope } from './scope.ts';
import type { Commit } from './commit.ts';
import { ON_ITS_WAY } from './unseen-changes.ts';

const PERIOD = 'deployment.reloader.stakater.com/pause-period';
const PAUSED_AT = 'deployment.reloader.stakater.com/paused-at';

/** Virtual milliseconds in which a pause that is over has to end. */
const RESUMED_WITHIN = 30_000;

export interface HoldsBy {
  readonly now: () => number;
  /** No workload may be written to; what is wrong with its annotations is told all the same. */
  readonly isAllHeld: boolean;
  readonly scope: Scope;
  /** How far the clocks of two processes may be apart, in milliseconds. The end of a pause is shifted by as much. */
  readonly clockError: number;
  /** Up to when everybody has been able to know what was written for so many milliseconds. */
  readonly knownUntil: (wait: number) => number;
  /** From when on a leader may have put what was written at this time into the catalog, by which workers go; `Infinity`: nobody leads. */
  readonly catalogedFrom: (time: number) => number;
  /** Counts what happened. */
  readonly seen: (what: string) => void;
}

/** A write of Reroll to an object that was there before and still is. */
interface Write {
  readonly before: KubeObject;
  readonly after: KubeObject;
}

export class Holds {
  readonly #by: HoldsBy;
  /** Since when a source is ignored, or excluded by a workload, in virtual milliseconds. */
  readonly #heldSince = new Map<string, number>();
  /** When the period of a Deployment was last written. */
  readonly #periodWritten = new Map<string, number>();

  constructor(by: HoldsBy) {
    this.#by = by;
  }

  /** Returns what the write violates. */
  commit({ before, after, by }: Commit): string[] {
    if (!after) {
      this.#gone(before);
      return [];
    }
    const { isAllHeld } = this.#by;
    const isOfTeam = NAMESPACES.some((name) => name === after.metadata.namespace);
    if (by === undefined) this.#noted(before, after);
    else if (isAllHeld && isOfTeam && after.kind !== 'Event')
      return [`${by} wrote ${keyOf(after)} though it may write nothing`];
    if (by === undefined || !before || !isOfTeam) return [];
    const write = { before, after };
    const problems = [...this.#scopeOf(write), ...this.#marksOf(write), ...this.#pauseOf(write)];
    return problems.map((problem) => `${by} wrote ${keyOf(after)}: ${problem}`);
  }

  /** These are all objects now. */
  restored(objects: readonly KubeObject[]): void {
    this.#heldSince.clear();
    this.#periodWritten.clear();
    for (const object of objects) this.#noted(undefined, object);
  }

  /**
   * Returns which of these are still paused although their time is over. If nobody led when its namespace went out of scope, nobody knows
   * of a pause.
   */
  overdue(workloads: Iterable<KubeObject>): string[] {
    const latest = this.#by.now() - RESUMED_WITHIN - this.#by.clockError;
    return [...workloads]
      .filter((object) => isPaused(object) && (endOf(object) ?? Infinity) < latest)
      .filter(({ metadata }) => this.#by.scope.isIn(metadata.namespace))
      .map((object) => `${keyOf(object)} is still paused`);
  }

  /** Whether the write ends a pause that lasted until this moment or longer, in virtual milliseconds. */
  endsPauseOf({ before, after }: Commit, from: number): boolean {
    if (!before || !after || !isPaused(before) || isPaused(after)) return false;
    return (endOf(before) ?? 0) >= from - RESUMED_WITHIN;
  }

  #gone(before: KubeObject | undefined): void {
    for (const hold of before ? holdsIn(before) : []) this.#heldSince.delete(hold);
  }

  #noted(before: KubeObject | undefined, after: KubeObject): void {
    const key = keyOf(after);
    if (annotation(before, PERIOD) !== annotation(after, PERIOD))
      this.#periodWritten.set(key, this.#by.now());
    for (const hold of holdsIn(after)) {
      const isNew = before === undefined || !holdsIn(before).includes(hold);
      if (isNew) this.#heldSince.set(hold, this.#by.now());
    }
    for (const hold of before ? holdsIn(before) : [])
      if (!holdsIn(after).includes(hold)) this.#heldSince.delete(hold);
  }

  /** What is not watched is not written to, once a leader has dropped it from the catalog; what was begun is finished. */
  #scopeOf({ before, after }: Write): string[] {
    const isFinished = isPaused(before) && !isPaused(after);
    const { scope, now, knownUntil, catalogedFrom } = this.#by;
    const since = scope.outSince(after.metadata.namespace);
    const isOut = since <= knownUntil(ON_ITS_WAY) && catalogedFrom(since) <= now() - ON_ITS_WAY;
    return isOut && !isFinished ? ['its namespace is not watched'] : [];
  }

  /** Nothing is marked with a source that is ignored, or that the workload excludes. */
  #marksOf({ before, after }: Write): string[] {
    const { namespace = '' } = after.metadata;
    const since = (hold: string): number => this.#heldSince.get(hold) ?? Infinity;
    const isKnown = (time: number): boolean => time <= this.#by.now() - ON_ITS_WAY;
    return newMarks(before, after).flatMap((ref) => {
      const isIgnored = isKnown(this.#by.catalogedFrom(since(ignoring(namespace, ref))));
      const isExcluded = isKnown(since(excluding(keyOf(after), ref)));
      return [
        ...(isIgnored ? [`a reload for ${ref}, which is ignored`] : []),
        ...(isExcluded ? [`a reload for ${ref}, which it excludes`] : []),
      ];
    });
  }

  #pauseOf({ before, after }: Write): string[] {
    if (after.kind !== 'Deployment') return [];
    const isReload = JSON.stringify(templateOf(before)) !== JSON.stringify(templateOf(after));
    if (isPaused(before)) return isPaused(after) ? this.#heldOn(isReload) : this.#endOf(before);
    if (isPaused(after)) return this.#begun(isReload);
    const isUnheld = isReload && periodOf(before) !== undefined;
    return isUnheld ? ['a reload without the pause that its owner asks for'] : [];
  }

  #heldOn(isReload: boolean): string[] {
    if (isReload) this.#by.seen('reloaded while paused');
    return [];
  }

  #begun(isReload: boolean): string[] {
    this.#by.seen('paused');
    return isReload ? [] : ['a pause without a reload'];
  }

  #endOf(before: KubeObject): string[] {
    const end = endOf(before);
    if (end === undefined) return ['the end of a pause that is its owner’s'];
    const { now, clockError, seen } = this.#by;
    seen('resumed');
    const isOnItsWay = (this.#periodWritten.get(keyOf(before)) ?? 0) > now() - ON_ITS_WAY;
    return end - clockError > now() && !isOnItsWay ? ['the end of a pause that is not over'] : [];
  }
}

function annotation(object: KubeObject | undefined, key: string): string | undefined {
  return object?.metadata.annotations?.[key];
}

function isPaused(object: KubeObject): boolean {
  return (object['spec'] as { paused?: boolean } | undefined)?.paused === true;
}

/** The period in milliseconds, if there is one that can be used. */
function periodOf(object: KubeObject): number | undefined {
  const [, seconds] = /^(\d+)s$/.exec(annotation(object, PERIOD) ?? '') ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

/** When the pause is over by the clock of who paused; at once without a period. `undefined`: the owner paused. */
function endOf(object: KubeObject): number | undefined {
  const pausedAt = annotation(object, PAUSED_AT);
  if (pausedAt === undefined) return undefined;
  const period = periodOf(object);
  return period === undefined ? 0 : Date.parse(pausedAt) + period;
}

function ignoring(namespace: string, ref: SourceRef): string {
  return `${namespace} ignores ${ref}`;
}

function excluding(workload: string, ref: SourceRef): string {
  return `${workload} excludes ${ref}`;
}

/** What the annotations of a source or of a workload hold back. */
function holdsIn(object: KubeObject): string[] {
  const { namespace = '', name } = object.metadata;
  const isIgnored = annotation(object, IGNORE) === 'true';
  return SOURCES.flatMap((ref) => {
    const [kind = '', source = ''] = ref.split('/');
    const list = annotation(object, `${typeOf(kind).several}.exclude.reloader.stakater.com/reload`) ?? '';
    return [
      ...(isIgnored && ref === `${object.kind}/${name}` ? [ignoring(namespace, ref)] : []),
      ...(list.split(',').includes(source) ? [excluding(keyOf(object), ref)] : []),
    ];
  });
}
