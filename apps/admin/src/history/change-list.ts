import type { changesQuery } from '@reroll/shared/api/changes';
import type { Change, HistoryJoin, Pair } from '@reroll/core/history/join';
import { isOpen, outcomeReason, stateOf, type ReloadState } from '@reroll/core/history/states';
import { indexOfId, type StreamId } from '@reroll/core/history/stream-id';
import type { z } from 'zod';
import type { Live } from './live-states.ts';
import { isHalted } from './views.ts';
import type { NamespacesAsked } from './namespaces-asked.ts';

export type ChangesQuery = z.output<typeof changesQuery>;

interface ListedChange {
  readonly change: Change;
  readonly stateOf: (pair: Pair) => ReloadState;
}

export interface ChangePage {
  readonly items: readonly ListedChange[];
  /** The last change that was examined; undefined if there are no more. */
  readonly last: StreamId | undefined;
}

interface ListContext {
  readonly join: HistoryJoin;
  readonly namespaces: NamespacesAsked;
  readonly look: (pairs: Iterable<Pair>) => Promise<Live>;
}

/** Lookups in Redis for one page: changes that matched in the history may no longer match, and others are then looked up. */
const MOST_LOOKS = 5;
/** States that only Redis, or the end of a rollout, tells apart. */
const LIVE: ReadonlySet<ReloadState> = new Set(['pending', 'delayed', 'running', 'retrying', 'forgotten']);
const ROLLING: ReadonlySet<ReloadState> = new Set(['reloaded', 'stuck', 'rolledOut']);

/** The changes before a cursor, newest first. */
export async function listChanges(
  query: ChangesQuery,
  before: StreamId | undefined,
  context: ListContext,
): Promise<ChangePage> {
  const walk = new Walk(query, candidates(query, context.join), before);
  const items: ListedChange[] = [];
  for (let looks = 0; looks < MOST_LOOKS && items.length < query.limit && !walk.isOver; looks += 1) {
    // A second look only where the first left places.
    const chosen = await walk.take(query.limit - items.length, context.namespaces);
    const live = await context.look(chosen.flatMap(({ pairs }) => pairs));
    for (const change of chosen) {
      const listed = listedChange(change, live);
      if (hasState(listed, query.state) && isWanted(listed, query.halted)) items.push(listed);
    }
  }
  return { items, last: walk.isAtEnd ? undefined : walk.last };
}

/** Goes through changes from the newest to the oldest. */
class Walk {
  last: StreamId | undefined;
  #isStopped = false;
  readonly #query: ChangesQuery;
  readonly #since: number;
  readonly #until: number;
  readonly #changes: readonly Change[];
  #at: number;

  constructor(query: ChangesQuery, changes: readonly Change[], before: StreamId | undefined) {
    this.#query = query;
    this.#since = query.since === undefined ? 0 : Date.parse(query.since);
    this.#until = query.until === undefined ? Infinity : Date.parse(query.until);
    this.#changes = changes;
    this.#at = (before === undefined ? changes.length : indexOfId(changes, before)) - 1;
    this.last = before;
  }

  get isAtEnd(): boolean {
    return this.#at < 0;
  }

  get isOver(): boolean {
    return this.isAtEnd || this.#isStopped;
  }

  /** The next `count` changes that may match. */
  async take(count: number, namespaces: NamespacesAsked): Promise<Change[]> {
    const taken: Change[] = [];
    for (; this.#at >= 0 && taken.length < count; this.#at -= 1) {
      const change = this.#changes[this.#at];
      if (!change) continue;
      if (this.#matches(change)) {
        const sees = await namespaces.sees(change.namespace);
        if (sees === undefined) {
          this.#isStopped = true;
          return taken;
        }
        if (sees) taken.push(change);
      }
      this.last = change.id;
    }
    return taken;
  }

  #matches(change: Change): boolean {
    const { namespace, cause, state, halted } = this.#query;
    if (change.since < this.#since || change.since >= this.#until) return false;
    if (namespace !== undefined && change.namespace !== namespace) return false;
    if (cause !== undefined && change.cause !== cause) return false;
    if (halted !== undefined && !change.pairs.some((pair) => outcomeReason(pair) === 'WaveHalted'))
      return false;
    return state === undefined || change.pairs.some((pair) => mayHave(pair, state));
  }
}

/** Oldest first. A copy, because entries come and go during the lookups. */
function candidates({ source, workload }: ChangesQuery, join: HistoryJoin): readonly Change[] {
  if (workload !== undefined) {
    const changes = (join.workload(workload)?.pairs ?? []).map(({ change }) => change);
    return source === undefined ? changes : changes.filter((change) => change.source === source);
  }
  return [...(source === undefined ? join.changes : join.changesOf(source))];
}

function mayHave(pair: Pair, state: ReloadState): boolean {
  const recorded = stateOf(pair);
  if (LIVE.has(state)) return isOpen(pair);
  // A rolled-out change stays so; others may be by now.
  if (ROLLING.has(state)) return recorded === state || recorded === 'reloaded' || recorded === 'stuck';
  return recorded === state || isOpen(pair);
}

function listedChange(change: Change, live: Live): ListedChange {
  const states = new Map(change.pairs.map((pair) => [pair, live.stateOf(pair)]));
  return { change, stateOf: (pair) => states.get(pair) ?? 'forgotten' };
}

function isWanted({ change, stateOf: now }: ListedChange, halted: ChangesQuery['halted']): boolean {
  return halted === undefined || change.pairs.some((pair) => isHalted(pair, now(pair)));
}

function hasState({ change, stateOf: now }: ListedChange, state: ReloadState | undefined): boolean {
  return state === undefined || change.pairs.some((pair) => now(pair) === state);
}
