/** Which workloads are being rolled out, since when, and for whom. It is told of every write. */
import { templateOf } from './objects.ts';
import { isWorkload } from './restarts.ts';
import { keyOf, type KubeObject } from './shapes.ts';
import type { Commit } from './truth.ts';

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

  noted({ before, after, by }: Commit): void {
    const object = after ?? before;
    if (!object || !isWorkload(object) || !hasRollouts(object.kind)) return;
    const key = keyOf(object);
    if (!after) this.#of.delete(key);
    else if (JSON.stringify(specOf(before)) !== JSON.stringify(specOf(after))) this.#begin(key, before, by);
    if (after) this.#ready(this.#of.get(key), isReady(after));
  }

  #ready(rollout: Rollout | undefined, isReadyNow: boolean): void {
    if (!rollout) return;
    rollout.readyAt = isReadyNow ? (rollout.readyAt ?? this.#now()) : undefined;
    if (isReadyNow) rollout.reloadedAt = undefined;
  }

  /** Those that follow a reload and are under way. */
  atOnce(): string[] {
    const from = this.#now() - TIMEOUT + INEXACT;
    return [...this.#of].filter(([, { reloadedAt }]) => (reloadedAt ?? -Infinity) > from).map(([key]) => key);
  }

  restored(): void {
    this.#of.clear();
  }

  #begin(key: string, before: KubeObject | undefined, by: string | undefined): void {
    const now = this.#now();
    const isReload = before !== undefined && by !== undefined;
    const reloadedAt = isReload ? now : this.#of.get(key)?.reloadedAt;
    this.#of.set(key, { begunAt: now, readyAt: undefined, reloadedAt });
  }
}

function specOf(object: KubeObject | undefined): unknown {
  return [object && templateOf(object), (object?.['spec'] as { restartAt?: string } | undefined)?.restartAt];
}

function isReady({ metadata, spec, status = {} }: KubeObject): boolean {
  const { observedGeneration, readyReplicas, numberReady } = status as Record<string, unknown>;
  const { replicas = 1 } = spec as { replicas?: number };
  const ready = numberReady === undefined ? Number(readyReplicas) >= replicas : Number(numberReady) > 0;
  return Number(observedGeneration) >= (metadata.generation ?? 0) && ready;
}
