import type { SourceKey } from '../model.ts';
import { isNewer, type Rv } from '../rv.ts';
import { sourceChange } from './observe-source.ts';
import { stateOf, type DataState } from './observe-workload.ts';
import type { FoundBy } from './outbox.ts';
import type { SourceRow } from './rows.ts';
import type { Triggers } from './triggers.ts';

/** Kept of one source; of more, what the earlier ones were is forgotten. */
const MAX_STATES = 8;
const NO_STATES: readonly DataState[] = Object.freeze([]);

/** What happened to a source since its users were last evaluated. */
export interface SourceChanges {
  /** Since when its annotations are others, or it is known here at all; undefined: that has not changed. */
  readonly rulesRv?: Rv | undefined;
  /**
   * The states that its data came to, the earliest first, with its deletion if that counts: what a record of a user is
   * compared with, by the resourceVersion of the user's template. At most `MAX_STATES`.
   */
  readonly states: readonly DataState[];
  /** Its users may be pending, or no longer. */
  readonly touches: boolean;
  /** Whether a change job comes for it: `used`, if a workload uses it then. */
  readonly job?: 'always' | 'used' | undefined;
  /** Whether that job enqueues the reload jobs: its data changed. One that only tells of a creation or deletion does not. */
  readonly jobReloads: boolean;
  /** It was not there before. */
  readonly isNew: boolean;
  readonly by: FoundBy;
}

/** How a new row of a source came about. */
export interface Seen {
  /** From when on dependencies that it begins are judged. */
  readonly at: Rv;
  readonly by: FoundBy;
  /** What its creation or deletion is told by: the row from before, if there was one. Absent: neither is told. */
  readonly known?: SourceRow | undefined;
}

/** What a new row of a source (`old`: the one before) means for its users. */
export function changesOf(
  seen: Seen & { readonly old: SourceRow | undefined; readonly row: SourceRow },
  triggers: Triggers,
): SourceChanges {
  const { old, row, at, by } = seen;
  const { rules, data, gone } = sourceChange(old, row) ?? { rules: false, data: false, gone: false };
  const jobReloads = data && old !== undefined;
  const ofData = jobReloads ? 'always' : undefined;
  return {
    rulesRv: rules ? at : undefined,
    states: data || (gone && triggers.onCreate) ? [stateOf(row)] : NO_STATES,
    touches: rules || data || gone,
    job: strongest(ofData, jobOfNews(seen, triggers)),
    jobReloads,
    isNew: !isThere(old),
    by,
  };
}

function isThere(row: SourceRow | undefined): boolean {
  return row?.exists === true;
}

/** A creation or deletion that counts is told of, and so is a deletion of what is used, for the history. */
function jobOfNews(seen: Seen & { readonly row: SourceRow }, triggers: Triggers): SourceChanges['job'] {
  if (!('known' in seen)) return undefined;
  const existed = seen.known?.exists ?? false;
  if (existed === seen.row.exists) return undefined;
  const counts = existed ? triggers.onDelete !== 'never' : seen.row.created === true;
  if (counts) return triggers.announced === true ? 'always' : 'used';
  return existed && triggers.announced !== true ? 'used' : undefined;
}

/**
 * Sources of which the users are to be evaluated, first come first served, and each at most once in a window, however
 * many events it had: so a source that is written a thousand times a second costs its users no more than one that
 * is written once in a window. Holds identity and one small record for each, never more than there are sources.
 */
export class ChangedSources {
  readonly #changes = new Map<SourceKey, SourceChanges>();
  /** Those of them that may be evaluated in this window. */
  readonly #ready = new Set<SourceKey>();
  /** Evaluated in this window. */
  readonly #evaluated = new Set<SourceKey>();

  note(key: SourceKey, changes: SourceChanges): void {
    const earlier = this.#changes.get(key);
    this.#changes.set(key, earlier ? merged(earlier, changes) : changes);
    if (!this.#evaluated.has(key)) this.#ready.add(key);
  }

  get(key: SourceKey): SourceChanges | undefined {
    return this.#changes.get(key);
  }

  /** The next one to evaluate now; undefined: none. */
  take(): readonly [SourceKey, SourceChanges] | undefined {
    for (const key of this.#ready) {
      const changes = this.#changes.get(key);
      this.#ready.delete(key);
      this.#changes.delete(key);
      if (!changes) continue;
      this.#evaluated.add(key);
      return [key, changes];
    }
    return undefined;
  }

  /** Something was evaluated in this window: what happened to it since waits for the next one. */
  get isWindowOpen(): boolean {
    return this.#evaluated.size > 0;
  }

  /** The next window begins. */
  nextWindow(): void {
    this.#evaluated.clear();
    for (const key of this.#changes.keys()) this.#ready.add(key);
  }

  get isEmpty(): boolean {
    return this.#changes.size === 0;
  }

  get hasReady(): boolean {
    return this.#ready.size > 0;
  }

  /** Out of scope. */
  drop(key: SourceKey): void {
    this.#changes.delete(key);
    this.#ready.delete(key);
    this.#evaluated.delete(key);
  }
}

/** Two changes as one. A dependency that may have begun earlier is judged from then. */
function merged(a: SourceChanges, b: SourceChanges): SourceChanges {
  return {
    rulesRv: earlier(a.rulesRv, b.rulesRv),
    states: lastOf([...a.states, ...b.states]),
    touches: a.touches || b.touches,
    job: strongest(a.job, b.job),
    jobReloads: a.jobReloads || b.jobReloads,
    isNew: a.isNew || b.isNew,
    by: a.by === 'event' || b.by === 'event' ? 'event' : 'list',
  };
}

/** A template that was written while the source had a state that is not kept has an unverified record. */
function lastOf(states: readonly DataState[]): readonly DataState[] {
  const [first] = states;
  if (!first || states.length <= MAX_STATES) return states;
  return [{ from: first.from, hash: undefined }, ...states.slice(1 - MAX_STATES)];
}

function strongest(a: SourceChanges['job'], b: SourceChanges['job']): SourceChanges['job'] {
  return a === 'always' || b === 'always' ? 'always' : (a ?? b);
}

function earlier(a: Rv | undefined, b: Rv | undefined): Rv | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return isNewer(a, b) ? b : a;
}
