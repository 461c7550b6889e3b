import type { ChangeEntry, OutcomeEntry } from '@reroll/core/history/entries';
import type { Observer, Rollout } from './observer.ts';
import { NAMESPACE, WORKLOADS, keyOf, reloadedBy, type Kind, type Workload } from './shop.ts';
import type { Stage } from './stage.ts';

export interface Act {
  readonly changed: readonly Kind[];
  /** Awaited before the clock starts. */
  readonly prepare?: () => Promise<void>;
  /** Writes the changes. */
  readonly change: () => Promise<void>;
  /** Awaited once they are written, before what comes of them is. */
  readonly afterChange?: () => Promise<void>;
}

/** One workload's line: what Reroll's history says of it, and what the demo's own watch saw. */
export interface Row {
  readonly workload: Workload;
  readonly result: 'reloaded' | 'left alone' | 'not concerned';
  /** The sources for which it was reloaded. */
  readonly sources: readonly string[];
  readonly reason: string;
  readonly detail: string;
  /** Milliseconds after the change. */
  readonly patched: number | undefined;
  readonly replaced: number | undefined;
}

export interface Performance {
  readonly rows: readonly Row[];
  /** Rollouts that were to come, and that were seen. */
  readonly expected: number;
  readonly rollouts: number;
  /** Of the monotonic clock. */
  readonly changedAt: number;
  readonly firstPatchAt: number;
  /** What happened that was not expected, or the other way round. */
  readonly failures: readonly string[];
}

/** So long nothing may happen any more: longer than the debounce, so that a second rollout would be seen. */
const QUIET_MS = 1_500;
/** More than one act can make. */
const HISTORY_ENTRIES = 500;

interface Told {
  readonly changes: readonly ChangeEntry[];
  readonly outcomes: readonly OutcomeEntry[];
}

/** Makes the change, waits until everything expected has happened and all is quiet, and compares. */
export async function perform(stage: Stage, observer: Observer, act: Act): Promise<Performance> {
  const began = Date.now();
  observer.begin();
  await act.prepare?.();
  const changedAt = performance.now();
  await act.change();
  await act.afterChange?.();
  const failures = await untilDone(stage, observer, act);
  const told = await history(stage, act, began);
  const rows = WORKLOADS.map((workload) => rowOf(workload, told, { observer, changedAt }));
  for (const workload of WORKLOADS) {
    failures.push(...surprises(workload, { act, told, rollout: observer.rollout(workload) }));
  }
  const seen = WORKLOADS.map((workload) => observer.rollout(workload));
  const patches = seen.flatMap(({ patchedAt }) => (patchedAt === undefined ? [] : [patchedAt]));
  return {
    rows,
    expected: expectedOf(act).length,
    rollouts: seen.reduce((sum, { count }) => sum + count, 0),
    changedAt,
    firstPatchAt: Math.min(...patches),
    failures,
  };
}

function expectedOf(act: Act): readonly Workload[] {
  return WORKLOADS.filter((workload) => reloadedBy(workload, act.changed).length > 0);
}

async function untilDone(stage: Stage, observer: Observer, act: Act): Promise<string[]> {
  const isDone = (): boolean =>
    expectedOf(act).every((workload) => observer.rollout(workload).replacedAt !== undefined);
  try {
    await stage.wait('every workload that asked for it to be reloaded', isDone);
    await stage.wait('the cluster to be quiet', () => observer.quietMs > QUIET_MS);
    return [];
  } catch (error) {
    stage.throwIfInterrupted();
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** What the workers wrote since `began`; waits for the last of it, but not for ever. */
async function history(stage: Stage, act: Act, began: number): Promise<Told> {
  let told: Told = { changes: [], outcomes: [] };
  const wanted = expectedOf(act).length;
  const isWritten = async (): Promise<boolean> => {
    const [changes, outcomes] = await Promise.all([
      stage.history.changes(HISTORY_ENTRIES),
      stage.history.outcomes(HISTORY_ENTRIES),
    ]);
    told = {
      changes: changes.filter(({ at }) => at >= began),
      outcomes: outcomes.filter(({ at }) => at >= began),
    };
    const reloads = told.outcomes.filter(({ state }) => state === 'reloaded').length;
    return told.changes.length >= act.changed.length && reloads >= wanted;
  };
  await stage.wait('the history to be written', isWritten).catch(() => stage.throwIfInterrupted());
  return told;
}

function rowOf(workload: Workload, told: Told, seen: { observer: Observer; changedAt: number }): Row {
  const key = keyOf(workload);
  const since = (at: number | undefined): number | undefined => at && at - seen.changedAt;
  const { patchedAt, replacedAt } = seen.observer.rollout(workload);
  const times = { workload, patched: since(patchedAt), replaced: since(replacedAt) };
  const reloaded = told.outcomes.filter(
    (outcome) => outcome.workload === key && outcome.state === 'reloaded',
  );
  const sources = [...new Set(reloaded.flatMap(({ rolled }) => rolled))];
  const isReloaded = reloaded.length > 0;
  const judged = told.changes
    .filter(({ source }) => !isReloaded || sources.some((name) => source === sourceKey(name)))
    .flatMap(({ woken, leftAlone }) => [...woken, ...leftAlone])
    .filter((each) => each.workload === key);
  const reason = [...new Set(judged.map((each) => each.reason))].join(', ');
  const detail = [...new Set(judged.map((each) => each.detail))].join('; ');
  if (isReloaded) return { ...times, result: 'reloaded', sources, reason, detail };
  if (judged.length > 0) return { ...times, result: 'left alone', sources, reason, detail };
  return { ...times, result: 'not concerned', sources, reason: '-', detail: '' };
}

/** `ConfigMap/settings` to `ConfigMap/shop/settings`. */
function sourceKey(name: string): string {
  return name.replace('/', `/${NAMESPACE}/`);
}

/** Everything about one workload that is not as it should be; nothing here is taken from the rows. */
function surprises(workload: Workload, by: { act: Act; told: Told; rollout: Rollout }): string[] {
  const { act, told, rollout } = by;
  const key = keyOf(workload);
  const expected = reloadedBy(workload, act.changed);
  const found: string[] = [];
  const check = (what: string, wanted: unknown, given: unknown): void => {
    if (wanted !== given) found.push(`${key}: expected ${what} ${String(wanted)}, found ${String(given)}`);
  };
  const rollouts = expected.length > 0 ? 1 : 0;
  check('rollouts', rollouts, rollout.count);
  check('new pods', rollouts * workload.pods, rollout.newPods);
  const reloaded = told.outcomes.filter(
    (outcome) => outcome.workload === key && outcome.state === 'reloaded',
  );
  check('outcomes "reloaded" in the history', rollouts, reloaded.length);
  const kinds = reloaded.flatMap(({ rolled }) => rolled.map((name) => name.slice(0, name.indexOf('/'))));
  check('to be reloaded for', expected.join(' and '), kinds.sort().join(' and '));
  for (const kind of act.changed) {
    const entries = told.changes.filter(({ source }) => source?.startsWith(`${kind}/`));
    const judged = entries.flatMap(({ woken, leftAlone }) => [...woken, ...leftAlone]);
    const reasons = new Set(judged.filter((each) => each.workload === key).map(({ reason }) => reason));
    check(`for ${kind} the reason`, workload.rules[kind] ?? 'none', [...reasons].join(', ') || 'none');
  }
  return found;
}
