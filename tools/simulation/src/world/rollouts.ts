/** Which workloads are being rolled out, since when, and for whom. It is told of every write. */
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { templateOf } from './objects.ts';
import { isWorkload } from './restarts.ts';
import { keyOf, type KubeObject } from './shapes.ts';
import type { Commit } from './commit.ts';

const HAVE_ROLLOUTS: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'DaemonSet', 'Rollout']);
/** A rollout that takes longer counts no more (docs/guide/change-safely.md), in virtual milliseconds; and how exactly that is measured. */
const TIMEOUT = 600_000;
const INEXACT = 15_000;

export function hasRollouts(kind: string): boolean {
  return HAVE_ROLLOUTS.has(kind);
}

export interface Rollout {
  /** Since when the object has its pod template, in virtual milliseconds. */
  readonly begunAt: number;
  /** When its pods were ready; `undefined`: they are not. */
  readyAt: number | undefined;
  /** When they last were no longer ready, as while the controller has not seen another annotation; `undefined`: that never was. */
  readyUntil: number | undefined;
  /** Since when its controller says that it makes no progress; `undefined`: it does not. */
  stuckSince: number | undefined;
  /** When that ended last; `undefined`: it never was. */
  stuckUntil: number | undefined;
  /** When Reroll last reloaded it; `undefined`: not since its pods were ready. */
  reloadedAt: number | undefined;
}

export class Rollouts {
  readonly #now: () => number;
  readonly #of = new Map<string, Rollout>();

  constructor(now: () => number) {
    this.#now = now;
  }

  get(key: string): Rollout | undefined {
    return this.#of.get(key);
  }

  noted(commit: Commit): void {
    const { before, after } = commit;
    const object = after ?? before;
    if (!object || !isWorkload(object) || !hasRollouts(object.kind)) return;
    if (after) this.#written(after, commit);
    else this.#of.delete(keyOf(object));
  }

  #written(after: KubeObject, { before, by }: Commit): void {
    const key = keyOf(after);
    if (JSON.stringify(specOf(before)) !== JSON.stringify(specOf(after))) this.#begin(key, before, by);
    const rollout = this.#of.get(key);
    if (!rollout) return;
    this.#recorded(rollout, after.metadata.annotations?.[RECORD_ANNOTATION]);
    this.#ready(rollout, isReady(after));
    this.#stuck(rollout, isObserved(after) && isStuck(after));
  }

  /** Whether waves take it for failed, or may have done so since then. */
  hasFailed({ stuckSince, stuckUntil = -Infinity, begunAt }: Rollout, since: number): boolean {
    return stuckSince !== undefined || stuckUntil > since || begunAt < this.#now() - TIMEOUT + INEXACT;
  }

  /** Reroll reads from the record that a rollout follows a reload. */
  #recorded(rollout: Rollout, record: string | undefined): void {
    if (record === undefined) rollout.reloadedAt = undefined;
  }

  #stuck(rollout: Rollout, isStuckNow: boolean): void {
    if (!isStuckNow && rollout.stuckSince !== undefined) rollout.stuckUntil = this.#now();
    rollout.stuckSince = isStuckNow ? (rollout.stuckSince ?? this.#now()) : undefined;
  }

  #ready(rollout: Rollout, isReadyNow: boolean): void {
    if (!isReadyNow && rollout.readyAt !== undefined) rollout.readyUntil = this.#now();
    rollout.readyAt = isReadyNow ? (rollout.readyAt ?? this.#now()) : undefined;
    if (isReadyNow) rollout.reloadedAt = undefined;
  }

  /** Those that follow a reload and are under way, and make progress. */
  atOnce(): string[] {
    const from = this.#now() - TIMEOUT + INEXACT;
    const isUnderWay = ({ reloadedAt, stuckSince }: Rollout): boolean =>
      stuckSince === undefined && (reloadedAt ?? -Infinity) > from;
    return [...this.#of].filter(([, rollout]) => isUnderWay(rollout)).map(([key]) => key);
  }

  restored(): void {
    this.#of.clear();
  }

  #begin(key: string, before: KubeObject | undefined, by: string | undefined): void {
    const now = this.#now();
    const isReload = before !== undefined && by !== undefined;
    const reloadedAt = isReload ? now : this.#of.get(key)?.reloadedAt;
    const none = { readyAt: undefined, readyUntil: undefined, stuckSince: undefined, stuckUntil: undefined };
    this.#of.set(key, { begunAt: now, reloadedAt, ...none });
  }
}

function specOf(object: KubeObject | undefined): unknown {
  return [object && templateOf(object), (object?.['spec'] as { restartAt?: string } | undefined)?.restartAt];
}

function isObserved({ metadata, status = {} }: KubeObject): boolean {
  const { observedGeneration } = status as Record<string, unknown>;
  return Number(observedGeneration) >= (metadata.generation ?? 0);
}

function isStuck({ status = {} }: KubeObject): boolean {
  const { phase, conditions = [] } = status as { phase?: string; conditions?: { reason: string }[] };
  return phase === 'Degraded' || conditions.some(({ reason }) => reason === 'ProgressDeadlineExceeded');
}

/** All pods have the present template and are ready. While a Deployment is paused, those of an earlier template stay ready. */
function isReady(object: KubeObject): boolean {
  const { spec, status = {} } = object;
  const { replicas = 1 } = spec as { replicas?: number };
  const { desiredNumberScheduled: nodes } = status as Record<string, unknown>;
  const counted = nodes === undefined ? ['updatedReplicas', 'readyReplicas'] : DAEMON_COUNTS;
  const counts = counted.map((field) => Number((status as Record<string, unknown>)[field]));
  return isObserved(object) && counts.every((count) => count >= Number(nodes ?? replicas));
}

const DAEMON_COUNTS = ['updatedNumberScheduled', 'numberReady'];
