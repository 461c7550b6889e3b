/** In which order a change with waves may reach its workloads (docs/guide/change-safely.md). It is told of every write. */
import { recordedLetter } from './recorded.ts';
import { letterOf } from './objects.ts';
import { isWorkload, type Shown } from './restarts.ts';
import type { Rollouts } from './rollouts.ts';
import { keyOf, type KubeObject } from './shapes.ts';
import { isStuck, ON_ITS_WAY, type Commit, type Truth } from './truth.ts';
import type { Rules } from './rules.ts';

const WAVES = 'reroll.dev/waves';
const BAKE = 'reroll.dev/bake';

/** Every change with waves has these: one, half of all, all. */
export const WAVES_OF_SOURCES = '1,50%';
export const BAKE_SECONDS = 15;

/** Sets or ends the waves of a source. */
export function waveAnnotations(isOn: boolean, isBaked: boolean): Record<string, string | null> {
  return { [WAVES]: isOn ? WAVES_OF_SOURCES : null, [BAKE]: isOn && isBaked ? `${BAKE_SECONDS}s` : null };
}

/** How far a worker may take the clock of the API server to be ahead, in milliseconds. */
const API_CLOCK = 2_000;

export interface WavesBy {
  readonly now: () => number;
  readonly truth: Pick<Truth, 'sources' | 'workloads'>;
  readonly rules: Pick<Rules, 'dependsOn' | 'hashKeys'>;
  readonly rollouts: Rollouts;
  /** See `HoldsBy`. */
  readonly knownUntil: (wait: number) => number;
  /** How far the clocks of two processes may be apart, in milliseconds. */
  readonly clockError: number;
  /** Counts what happened. */
  readonly seen: (what: string) => void;
}

interface WavedChange {
  readonly key: string;
  readonly source: KubeObject;
  /** Up to when everybody knows what was written, in virtual milliseconds. */
  readonly settled: number;
}

export class Waves {
  readonly #by: WavesBy;
  /** Since when a source has its data and its waves as they are, in virtual milliseconds. */
  readonly #since = new Map<string, number>();
  /** When somebody else last changed who depends on what, by namespace. */
  readonly #changedAt = new Map<string, number>();

  constructor(by: WavesBy) {
    this.#by = by;
  }

  /** Takes every write, before `Truth` forgets what it was. */
  noted({ before, after, by }: Commit): void {
    const object = after ?? before;
    if (!object) return;
    const { namespace = '' } = object.metadata;
    if (object.kind === 'ConfigMap' || object.kind === 'Secret') this.#source(before, after, namespace);
    else if (isWorkload(object)) {
      if (by === undefined && !isStatusOnly(before, after)) this.#changedAt.set(namespace, this.#by.now());
    }
  }

  /** etcd is as it was: nothing is known. */
  restored(): void {
    this.#since.clear();
  }

  /** Returns what a reload by Reroll violates. Call it after `noted`, and after the truth was told. */
  reloaded({ before, after, by }: Commit): string[] {
    if (!before || !after) return [];
    const { namespace = '' } = after.metadata;
    const settled = this.#by.knownUntil(ON_ITS_WAY);
    if ((this.#changedAt.get(namespace) ?? -Infinity) > settled) return [];
    return [...this.#by.truth.sources].flatMap(([key, source]) => {
      if (source.metadata.annotations?.[WAVES] === undefined) return [];
      if ((this.#since.get(key) ?? Infinity) > settled) return [];
      const { hashKeys: keys } = this.#by.rules;
      const letter = recordedLetter(after, key, keys);
      const was = recordedLetter(before, key, keys);
      // One that is recorded for the first time may have been so beside the change of another.
      if (letter === undefined || was === undefined || letter === was) return [];
      const problem = this.#tooEarly(keyOf(after), { key, source, settled });
      return problem === undefined ? [] : [`${by} reloaded ${keyOf(after)} for ${key}: ${problem}`];
    });
  }

  #tooEarly(workload: string, change: WavedChange): string | undefined {
    const members = this.#concerned(change.key);
    const at = members.indexOf(workload);
    const sizes = [1, Math.max(1, Math.ceil(members.length / 2)), members.length];
    const start = sizes.findLast((size) => size <= at) ?? 0;
    if (start > 0) this.#by.seen('reloaded in a later wave');
    for (const earlier of members.slice(0, start)) {
      const problem = this.#notDone(earlier, change);
      if (problem !== undefined) return `${earlier} of an earlier wave ${problem}`;
    }
    return undefined;
  }

  /** The workloads that a change of the source reloads, in their order. */
  #concerned(key: string): string[] {
    const { sources, workloads } = this.#by.truth;
    const source = sources.get(key);
    return [...workloads]
      .filter(([, workload]) => !isStuck(workload) && !workload.shown.isLeftAlone)
      .filter(([, { shown }]) => shown.object.metadata.namespace === source?.metadata.namespace)
      .filter(([, { shown }]) => this.#by.rules.dependsOn(shown, source, key))
      .map(([workload]) => workload)
      .toSorted();
  }

  #notDone(workload: string, { key, source, settled }: WavedChange): string | undefined {
    const known = this.#by.truth.workloads.get(workload);
    if (!known) return undefined;
    const { shown, since } = known;
    const letter = letterOf(source);
    const recorded = recordedLetter(shown.object, key, this.#by.rules.hashKeys);
    if (recorded !== letter && since.get(key)?.inPods !== letter) return 'does not have it';
    return this.#notRolledOut(shown, { source, settled });
  }

  #notRolledOut(
    { object, holder }: Shown,
    { source, settled }: Omit<WavedChange, 'key'>,
  ): string | undefined {
    const rollout = this.#by.rollouts.get(keyOf(object));
    // What has begun since may not be known.
    if (!rollout || holder !== object || rollout.begunAt > settled) return undefined;
    if (rollout.readyAt === undefined) return 'is not rolled out';
    const bake = source.metadata.annotations?.[BAKE] === undefined ? 0 : BAKE_SECONDS * 1_000;
    const { now, clockError } = this.#by;
    return now() - rollout.readyAt < bake - API_CLOCK - clockError
      ? 'is not observed for long enough'
      : undefined;
  }

  #source(before: KubeObject | undefined, after: KubeObject | undefined, namespace: string): void {
    const object = after ?? before;
    if (!object) return;
    this.#since.set(keyOf(object), this.#by.now());
    const isChanged =
      JSON.stringify(before?.metadata.annotations) !== JSON.stringify(after?.metadata.annotations);
    if (!before || !after || isChanged) this.#changedAt.set(namespace, this.#by.now());
  }
}

function isStatusOnly(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  const rest = (object: KubeObject | undefined): string =>
    JSON.stringify([object?.metadata.annotations, object?.metadata.labels, object?.['spec']]);
  return before !== undefined && after !== undefined && rest(before) === rest(after);
}
