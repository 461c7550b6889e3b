/** In which order a change with waves may reach its workloads (docs/guide/change-safely.md). It is told of every write. */
import { recordedLetter } from './recorded.ts';
import { letterOf } from './objects.ts';
import { isWorkload, type Shown } from './restarts.ts';
import type { Rollout, Rollouts } from './rollouts.ts';
import { keyOf, type KubeObject, type Letter } from './shapes.ts';
import { isStuck } from './known.ts';
import type { Commit } from './commit.ts';
import type { Truth } from './truth.ts';
import { ON_ITS_WAY } from './unseen-changes.ts';
import type { Rules } from './rules.ts';

export const WAVES = 'reroll.dev/waves';
const BAKE = 'reroll.dev/bake';
export const RESUMED = 'reroll.dev/resumed';

const SOURCES: ReadonlySet<string> = new Set(['ConfigMap', 'Secret']);

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
  /** Since when a leader tells of rollouts without a break, in virtual milliseconds; `Infinity`: nobody can tell. */
  readonly toldSince: () => number;
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
  /** Whether somebody lets it go on although a rollout has failed. */
  readonly isResumed: boolean;
}

export class Waves {
  readonly #by: WavesBy;
  /** Since when a source has its data and its waves as they are, in virtual milliseconds. */
  readonly #since = new Map<string, number>();
  /** When somebody else last changed who depends on what, by namespace. */
  readonly #changedAt = new Map<string, number>();
  /** The resourceVersion with which a source got its data. */
  readonly #dataOf = new Map<string, number>();

  constructor(by: WavesBy) {
    this.#by = by;
  }

  /** Takes every write, before `Truth` forgets what it was. */
  noted({ before, after, by }: Commit): void {
    const object = after ?? before;
    if (!object) return;
    const { namespace = '' } = object.metadata;
    if (SOURCES.has(object.kind)) this.#source(before, after, namespace);
    else if (tellsOfHalt(object)) this.#by.seen('a change halted');
    else if (isWorkload(object) && by === undefined && !isStatusOnly(before, after))
      this.#changedAt.set(namespace, this.#by.now());
  }

  /** etcd is as it was: nothing is known. */
  restored(): void {
    this.#since.clear();
    this.#dataOf.clear();
  }

  /** Returns what a reload by Reroll violates. Call it after `noted`, and after the truth was told. */
  reloaded({ before, after, by }: Commit): string[] {
    if (!before || !after) return [];
    const { namespace = '' } = after.metadata;
    const settled = this.#by.knownUntil(ON_ITS_WAY);
    if ((this.#changedAt.get(namespace) ?? -Infinity) > settled) return [];
    const { sources, workloads } = this.#by.truth;
    // What the pods already have, by a rollout of the owner, is only recorded.
    const isDue = (key: string): boolean => workloads.get(keyOf(after))?.reloadedFor.includes(key) === true;
    return [...sources].flatMap(([key, source]) => {
      if (source.metadata.annotations?.[WAVES] === undefined || !isDue(key)) return [];
      if ((this.#since.get(key) ?? Infinity) > settled) return [];
      const { hashKeys: keys } = this.#by.rules;
      const letter = recordedLetter(after, key, keys);
      const was = recordedLetter(before, key, keys);
      // One that is recorded for the first time may have been so beside the change of another.
      if (letter === undefined || was === undefined || letter === was) return [];
      const isResumed = this.#isResumed(key, source);
      const problem = this.#tooEarly(keyOf(after), { key, source, settled, isResumed });
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
    const end = sizes.find((size) => size > at);
    const failed = members
      .slice(start, end)
      .find((each) => each !== workload && !change.isResumed && this.#isStuckWith(each, change));
    return failed && `${failed} of the same wave is stuck`;
  }

  /** Whether it has the change, and everybody knows that it is stuck. */
  #isStuckWith(workload: string, { key, source, settled }: WavedChange): boolean {
    const { stuckSince = Infinity } = this.#by.rollouts.get(workload) ?? {};
    const isTold = Math.max(stuckSince, this.#by.toldSince()) <= settled;
    return isTold && this.#has(workload, key, letterOf(source));
  }

  #isResumed(key: string, { metadata }: KubeObject): boolean {
    const [upTo] = metadata.annotations?.[RESUMED]?.split(';') ?? [];
    return upTo !== undefined && Number(upTo) >= (this.#dataOf.get(key) ?? 0);
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

  #notDone(workload: string, change: WavedChange): string | undefined {
    const known = this.#by.truth.workloads.get(workload);
    if (!known) return undefined;
    if (!this.#has(workload, change.key, letterOf(change.source))) return 'does not have it';
    return this.#notRolledOut(known.shown, change);
  }

  #has(workload: string, key: string, letter: Letter): boolean {
    const known = this.#by.truth.workloads.get(workload);
    if (!known) return false;
    const recorded = recordedLetter(known.shown.object, key, this.#by.rules.hashKeys);
    return recorded === letter || known.since.get(key)?.inPods === letter;
  }

  #notRolledOut({ object, holder }: Shown, { source, settled, isResumed }: WavedChange): string | undefined {
    const rollout = this.#by.rollouts.get(keyOf(object));
    if (!rollout || holder !== object || !isKnownAt(settled, rollout)) return undefined;
    if (isResumed && this.#by.rollouts.hasFailed(rollout, settled)) return undefined;
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
    if (after && !hasSameData(before, after))
      this.#dataOf.set(keyOf(after), Number(after.metadata.resourceVersion));
    const isChanged =
      JSON.stringify(before?.metadata.annotations) !== JSON.stringify(after?.metadata.annotations);
    if (!before || !after || isChanged) this.#changedAt.set(namespace, this.#by.now());
  }
}

/** What has begun or come to an end since may not be known. */
function isKnownAt(settled: number, { begunAt, readyUntil = -Infinity }: Rollout): boolean {
  return begunAt <= settled && readyUntil <= settled;
}

function hasSameData(before: KubeObject | undefined, after: KubeObject): boolean {
  return before !== undefined && letterOf(before) === letterOf(after);
}

/** Whether it is the Event of a source whose change is halted. */
function tellsOfHalt(object: KubeObject): boolean {
  const { kind = '' } = (object['involvedObject'] ?? {}) as { kind?: string };
  return object.kind === 'Event' && object['reason'] === 'WaveHalted' && SOURCES.has(kind);
}

function isStatusOnly(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  const rest = (object: KubeObject | undefined): string =>
    JSON.stringify([object?.metadata.annotations, object?.metadata.labels, object?.['spec']]);
  return before !== undefined && after !== undefined && rest(before) === rest(after);
}
