/** What the holds of a workload, its Namespace and the installation forbid (docs/guide/change-safely.md). It is told of every write. */
import { INSTALL, keyOf, type KubeObject } from './shapes.ts';
import type { Commit } from './commit.ts';
import { ON_ITS_WAY } from './unseen-changes.ts';

const PREFIX = 'reroll.dev/';
const FREEZE = `${PREFIX}freeze`;
const FREEZE_ALL = `${PREFIX}freeze-all`;
const WINDOW = `${PREFIX}window`;
const APPROVAL = `${PREFIX}approval`;
const APPROVED = `${PREFIX}approved`;
const LIMIT = `${PREFIX}reload-limit`;

/** What somebody writes on a workload; `freezeFor` ends by itself. */
export const WORKLOAD_HOLDS = ['freeze', 'freezeFor', 'window', 'approval', 'limit'] as const;
export type WorkloadHold = (typeof WORKLOAD_HOLDS)[number];

const PER_MINUTE = 2;
const MINUTE = 60_000;
/** For how long a worker uses again what it has read of a Namespace while it cannot watch. */
const READ_AGAIN = 2_000;

/** Takes all holds away, and sets one if any is given. `now`: virtual Unix milliseconds. */
export function holdAnnotations(hold: WorkloadHold | null, now: number): Record<string, string | null> {
  const none = { [FREEZE]: null, [WINDOW]: null, [APPROVAL]: null, [APPROVED]: null, [LIMIT]: null };
  const holds: Readonly<Record<WorkloadHold, Record<string, string>>> = {
    freeze: { [FREEZE]: 'a test' },
    freezeFor: { [FREEZE]: `${new Date(now + 15_000).toISOString()}; a test` },
    window: { [WINDOW]: `${minuteOf(now + MINUTE)}-${minuteOf(now + 2 * MINUTE)}` },
    approval: { [APPROVAL]: 'required' },
    limit: { [LIMIT]: `${PER_MINUTE}/1m` },
  };
  return hold === null ? none : { ...none, ...holds[hold] };
}

export function asksForApproval({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[APPROVAL] === 'required';
}

export function namespaceHold(name: string, on: boolean): Record<string, string | null> {
  return { [name === INSTALL ? FREEZE_ALL : FREEZE]: on ? '; a test' : null };
}

/** The approval of what the last of these Events tells of the workload; `undefined` if none does. */
export function approvalOf(
  events: readonly KubeObject[],
  workload: string,
): Record<string, string> | undefined {
  const told = events.filter(
    ({ reason, involvedObject }) =>
      reason === 'AwaitsApproval' &&
      keyOf({ ...(involvedObject as KubeObject), metadata: involvedObject as never }) === workload,
  );
  const [, id] = /"([0-9a-f]{10})"/.exec(String(told.at(-1)?.['message'])) ?? [];
  return id === undefined ? undefined : { [APPROVED]: id };
}

export interface ReloadHoldsBy {
  readonly now: () => number;
  /** See `HoldsBy`. */
  readonly knownUntil: (wait: number) => number;
  /** How far the clocks of two processes may be apart, in milliseconds. */
  readonly clockError: number;
  /** Whether what a limit counts is never lost: nobody strips records. */
  readonly isCounted: boolean;
  /** Counts what happened. */
  readonly seen: (what: string) => void;
}

export class ReloadHolds {
  readonly #by: ReloadHoldsBy;
  /** Since when an object has its holds as they are, in virtual milliseconds. */
  readonly #since = new Map<string, number>();
  /** Frozen Namespaces, since when. */
  readonly #frozen = new Map<string, number>();
  readonly #used = new Set<string>();
  /** The reloads of a workload since it is limited, by its uid. */
  readonly #reloads = new Map<string, number[]>();

  constructor(by: ReloadHoldsBy) {
    this.#by = by;
  }

  /** Takes every write. */
  noted({ before, after }: Commit): void {
    if (!after) return;
    if (after.kind === 'Namespace') this.#namespace(after);
    else if (holdsOf(before) !== holdsOf(after)) {
      this.#since.set(keyOf(after), this.#by.now());
      this.#reloads.delete(after.metadata.uid ?? '');
    }
  }

  /** etcd is as it was: what was held and counted since is not known. */
  restored(namespaces: readonly KubeObject[]): void {
    this.#since.clear();
    this.#reloads.clear();
    this.#used.clear();
    this.#frozen.clear();
    for (const each of namespaces) this.#namespace(each);
  }

  /** Returns what a reload by Reroll violates. */
  reloaded({ before, after, by }: Commit): string[] {
    if (!before || !after) return [];
    const { namespace = '' } = after.metadata;
    const latest = this.#by.now() - ON_ITS_WAY;
    const frozen = [namespace, INSTALL].filter(
      (name) => (this.#frozen.get(name) ?? Infinity) <= this.#by.knownUntil(ON_ITS_WAY + READ_AGAIN),
    );
    const isHeld = (this.#since.get(keyOf(after)) ?? -Infinity) <= latest;
    return [
      ...frozen.map((name) => `the namespace ${name} is frozen`),
      ...(isHeld ? [this.#frozenFor(before), this.#closed(before), this.#notApproved(before)] : []),
      this.#tooOften(before),
    ].flatMap((problem) => (problem === undefined ? [] : [`${by} reloaded ${keyOf(after)}: ${problem}`]));
  }

  #namespace({ metadata }: KubeObject): void {
    const { name, annotations } = metadata;
    const isFrozen = annotations?.[name === INSTALL ? FREEZE_ALL : FREEZE] !== undefined;
    if (!isFrozen) this.#frozen.delete(name);
    else if (!this.#frozen.has(name)) {
      this.#frozen.set(name, this.#by.now());
      this.#by.seen('a namespace frozen');
    }
  }

  #frozenFor({ metadata }: KubeObject): string | undefined {
    const text = metadata.annotations?.[FREEZE];
    if (text === undefined) return undefined;
    const end = Date.parse(text.split(';')[0] ?? '');
    const { now, clockError } = this.#by;
    return end < now() + ON_ITS_WAY + clockError ? undefined : 'it is frozen';
  }

  #closed({ metadata }: KubeObject): string | undefined {
    const window = metadata.annotations?.[WINDOW];
    if (window === undefined) return undefined;
    const { now, clockError } = this.#by;
    const [start = 0, end = 0] = window.split('-').map((time) => millisecondsOf(time));
    const day = now() % (24 * 60 * MINUTE);
    const isOpen = day + ON_ITS_WAY + clockError >= start && day - ON_ITS_WAY - clockError < end;
    this.#by.seen('reloaded in a window');
    return isOpen ? undefined : `its window ${window} is closed`;
  }

  #notApproved({ metadata }: KubeObject): string | undefined {
    if (!asksForApproval({ metadata } as KubeObject)) return undefined;
    const id = metadata.annotations?.[APPROVED];
    if (id === undefined) return 'nobody approved it';
    const use = `${metadata.uid}/${id}`;
    if (this.#used.has(use)) return `${id} was approved once`;
    this.#used.add(use);
    this.#by.seen('reloaded with an approval');
    return undefined;
  }

  #tooOften({ metadata }: KubeObject): string | undefined {
    const { uid = '', annotations } = metadata;
    const { now, clockError, isCounted } = this.#by;
    if (annotations?.[LIMIT] === undefined || !isCounted || clockError > 0) return undefined;
    const times = [...(this.#reloads.get(uid) ?? []), now()];
    this.#reloads.set(uid, times);
    const counted = times.filter((time) => time > now() - MINUTE + ON_ITS_WAY).length;
    if (counted === PER_MINUTE) this.#by.seen('reloaded as often as allowed');
    return counted > PER_MINUTE ? `${counted} times in a minute` : undefined;
  }
}

function holdsOf(object: KubeObject | undefined): string {
  const { annotations } = object?.metadata ?? {};
  return JSON.stringify([FREEZE, WINDOW, APPROVAL, APPROVED, LIMIT].map((key) => annotations?.[key]));
}

function minuteOf(time: number): string {
  return new Date(time).toISOString().slice(11, 16);
}

function millisecondsOf(minute: string): number {
  const [hours = 0, minutes = 0] = minute.split(':').map(Number);
  return (hours * 60 + minutes) * MINUTE;
}
