import { formatDuration } from '../durations.ts';
import { isNewer, isRv } from '../rv.ts';
import { unixSeconds } from '../state/observe.ts';
import type { ContainerUse } from './container-uses.ts';
import { isOfStatus, type UsingPod } from './pod.ts';
import type { SourceWrites } from './source-writes.ts';

export interface Verdict {
  readonly state: 'current' | 'stale' | 'unknown';
  /** `stale`: Unix seconds of the write that the container does not have. */
  readonly since: number | null;
  readonly why: string;
}

/** Times are Unix seconds. */
export interface Facts {
  readonly pod: UsingPod;
  readonly source: SourceWrites | 'absent' | 'unreadable';
  readonly now: number;
  /** When `source.rv` was first read: writes that left no time are older than that. */
  readonly seenAt: number;
  /** The longest that a kubelet may take to notice a write: see `KUBELET_DELAY`. */
  readonly delay: number;
  /** Whether a list of pods at `source.rv` has this one. Undefined: not asked, or too long ago. */
  readonly existedAtLastWrite?: boolean | undefined;
}

type DatedFacts = Facts & { readonly source: SourceWrites & { readonly dataAt: number } };

/**
 * With its defaults a kubelet looks at a pod every 60 to 90 s, and may do so with data that are 60 s old. After 50 s without it, its
 * pods are no longer ready.
 */
export const KUBELET_DELAY = 210;

/** A write is dated before admission webhooks see it; they may hold it up for so long. */
const WRITE_TAKES = 10;

/**
 * Judges whether one use of a source in one pod is with the current data; null: the container does not run, and will start with them.
 *
 * `current` is never said of a container that may have older data, if clocks differ by less than `delay`, and if a kubelet that starts
 * a pod knows of the writes from before the pod was created, as every rollout needs. What a process does with a file that was
 * refreshed is not known.
 */
export function verdictOf(use: ContainerUse, facts: Facts): Verdict | null {
  const { pod, source } = facts;
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return null;
  if (use.by === 'csiVolume') return unknown('a driver mounts it, and does not tell when it refreshes it');
  if (source === 'unreadable') return unknown('you may not read the source');
  if (source === 'absent') {
    return unknown('the source does not exist; a container from before its deletion has what it held');
  }
  const { dataAt } = source;
  const run = runOf(use, pod);
  if (dataAt === undefined) return ofUndated(run, source);
  return ofDated(use, run, { ...facts, source: { ...source, dataAt } });
}

/** Whether seconds alone may be wrong about which of both came first, so that `existedAtLastWrite` helps. */
export function isCreatedAround({ metadata }: UsingPod, { dataAt }: SourceWrites): boolean {
  if (dataAt === undefined) return false;
  const after = unixSeconds(metadata.creationTimestamp) - dataAt;
  return after >= 0 && after <= WRITE_TAKES;
}

/** When a container began to run, 0 if nothing tells; undefined if it does not run. */
type Run = number | undefined;

const STATUSES = {
  containers: 'containerStatuses',
  initContainers: 'initContainerStatuses',
  ephemeralContainers: 'ephemeralContainerStatuses',
} as const;

function runOf(use: ContainerUse, { status }: UsingPod): Run {
  if (use.by === 'imagePull') return 0;
  const { running, terminated } =
    status?.[STATUSES[use.group]]?.find(({ name }) => name === use.container)?.state ?? {};
  if (running) return unixSeconds(running.startedAt);
  // What an init container has made of the data may still be in use.
  return use.isInit && terminated?.exitCode === 0 ? unixSeconds(terminated.startedAt) : undefined;
}

function ofUndated(run: Run, { createdAt }: SourceWrites): Verdict {
  if (run !== undefined && run > 0 && run < createdAt) return stale(createdAt);
  return unknown('the source has no managedFields that tell when its data were written');
}

function ofDated(use: ContainerUse, run: Run, facts: DatedFacts): Verdict | null {
  const isAfter = isAfterWrite(facts);
  if (run === undefined) {
    return isAfter || isNoticed(facts)
      ? null
      : unknown('it may be about to start with what was read before the last write');
  }
  if (isInPlace(use, facts)) return ofFiles(use, run, facts);
  return isAfter ? unlessHidden(run, facts, 'the pod was created after the last write') : ofStart(run, facts);
}

/** Whether a kubelet refreshes what is used while it is used. */
function isInPlace({ by, isInit }: ContainerUse, { source }: DatedFacts): boolean {
  if (by === 'imagePull') return true;
  return by === 'volume' && !isInit && !source.mayBeImmutable;
}

/** What a container reads from files, and what is read at each pull. */
function ofFiles({ by }: ContainerUse, run: number, facts: DatedFacts): Verdict {
  const { now, seenAt, delay } = facts;
  const isAfter = isAfterWrite(facts);
  if (!isAfter && !isNoticed(facts)) {
    const most = formatDuration(delay * 1_000);
    return unknown(`the kubelet may not have noticed the last write yet, which takes up to ${most}`);
  }
  if (now <= seenAt + delay && hasHiddenWrite(run, facts)) return unknown(HIDDEN);
  if (by === 'imagePull') return current('it is read at each pull');
  const doubt = isAfter ? undefined : doubtOfFiles(facts);
  if (doubt !== undefined) return unknown(doubt);
  return current('the files are of the last write; whether the process has read them is not known');
}

/** Why a kubelet may not have refreshed files, although it has had the time. */
function doubtOfFiles({ pod, now, delay }: DatedFacts): string | undefined {
  if (!isKept(pod)) return 'the pod is being deleted or not ready, and its files may not be refreshed';
  const told = toldAt(pod);
  if (told === undefined) return 'nothing tells when the status of the pod was last written';
  if (now <= told + delay)
    return 'the kubelet may have only just reconnected, and may not have refreshed the files yet';
  return undefined;
}

/** Whether every kubelet has had the time to notice the last write. */
function isNoticed({ now, source, delay }: DatedFacts): boolean {
  return now > source.dataAt + delay;
}

/** Whether a kubelet looks after the pod. The node controller takes readiness away from the pods of a node that it has lost. */
function isKept({ metadata, status }: UsingPod): boolean {
  const isReady = status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True');
  return isReady === true && metadata.deletionTimestamp === undefined;
}

/**
 * When the status of the pod was last written; undefined if nothing tells. A kubelet that had lost the API server makes its pods ready
 * when it reconnects, before it refreshes their files; the lastTransitionTime of the condition may be older than that.
 */
function toldAt({ metadata }: UsingPod): number | undefined {
  const times = (metadata.managedFields ?? []).filter(isOfStatus).map(({ time }) => unixSeconds(time));
  return times.length > 0 && times.every((time) => time > 0) ? Math.max(...times) : undefined;
}

/** What a container is given when it starts. */
function ofStart(run: number, facts: DatedFacts): Verdict {
  const { dataAt } = facts.source;
  if (run === 0) return unknown('nothing tells when it started');
  if (run < dataAt) return stale(dataAt);
  if (run > dataAt + facts.delay) return unlessHidden(run, facts, 'it started after the last write');
  return unknown(
    run === dataAt
      ? 'it started within the second of the last write; restart it to be sure'
      : 'it started shortly after the last write, in a pod from before; restart it to be sure',
  );
}

/** False if that is not certain. */
function isAfterWrite({ source, pod, existedAtLastWrite }: DatedFacts): boolean {
  const created = unixSeconds(pod.metadata.creationTimestamp);
  if (existedAtLastWrite === false && created >= source.dataAt) return true;
  return created > source.dataAt && existedAtLastWrite !== true;
}

function unlessHidden(run: number, facts: DatedFacts, why: string): Verdict {
  return hasHiddenWrite(run, facts) ? unknown(`${HIDDEN}; restart it to be sure`) : current(why);
}

const HIDDEN = 'the source was written again in a way that left no time';

/** A write that removes keys, and does nothing else, leaves no time. It shows only until the pod is written again. */
function hasHiddenWrite(run: number, { source, pod }: DatedFacts): boolean {
  const { resourceVersion, creationTimestamp } = pod.metadata;
  const isLater = isRv(resourceVersion) && isNewer(source.rv, resourceVersion);
  return isLater && source.lastAt <= Math.max(run, unixSeconds(creationTimestamp));
}

function current(why: string): Verdict {
  return { state: 'current', since: null, why };
}

function stale(since: number): Verdict {
  return { state: 'stale', since, why: 'it started before the last write' };
}

function unknown(why: string): Verdict {
  return { state: 'unknown', since: null, why };
}
