import { annotationOf, type AnnotationKeys } from '../annotations/annotation-keys.ts';
import { isTime, parseDuration } from '../durations.ts';
import type { Annotations, WorkloadKind } from '../model.ts';
import { pointer, type PatchOperation } from './json-patch.ts';

/** The only kind whose rollout can be paused. On other kinds, a period is reported as a mistake. */
const PAUSABLE = 'Deployment';

type PauseKeys = Pick<AnnotationKeys, 'pausePeriod' | 'pausedAt'>;

/** The pause that a workload's annotations ask for at a reload. */
export type PauseWish =
  | { readonly state: 'none' }
  /** Milliseconds, more than 0. */
  | { readonly state: 'pause'; readonly period: number }
  /** The annotation is invalid; `problem` says what was expected and what was given. The workload is reloaded anyway. */
  | { readonly state: 'unusable'; readonly problem: string };

/**
 * Reads the period for which a Deployment's rollout is paused after a reload (a Go duration). Zero or less means no pause. An empty
 * key disables pauses.
 */
export function pauseWish(
  workload: { readonly kind: WorkloadKind; readonly annotations: Annotations },
  keys: PauseKeys,
): PauseWish {
  const text = annotationOf(workload.annotations, keys.pausePeriod);
  if (text === undefined || keys.pausePeriod === '') return { state: 'none' };
  if (workload.kind !== PAUSABLE) {
    return { state: 'unusable', problem: `Annotation '${keys.pausePeriod}' only applicable for deployments` };
  }
  const period = parseDuration(text);
  if (period === undefined) {
    const given = JSON.stringify(text.slice(0, 80));
    const problem = `Annotation '${keys.pausePeriod}': expected a duration such as 5m or 1h30m, given ${given}; nothing is paused`;
    return { state: 'unusable', problem };
  }
  return period > 0 ? { state: 'pause', period } : { state: 'none' };
}

/**
 * Returns when a Deployment that was paused at a reload resumes, in Unix milliseconds; undefined if there is nothing to do, because
 * nobody or only its owner paused it. `paused-at` is by the clock of the worker that paused it. Returns 0 if a time or period
 * cannot be read, and for a `paused-at` that remained after a manual resume: it is then only removed, so that it does not affect a
 * later pause by the owner.
 */
export function resumeDueAt(
  workload: { readonly paused: boolean | undefined; readonly annotations: Annotations | undefined },
  keys: PauseKeys,
): number | undefined {
  const { paused, annotations = {} } = workload;
  if (paused === undefined) return undefined;
  const since = annotationOf(annotations, keys.pausedAt);
  if (since === undefined) return undefined;
  if (!paused) return 0;
  const period = parseDuration(annotationOf(annotations, keys.pausePeriod) ?? '') ?? Number.NaN;
  const due = Date.parse(since) + Math.max(0, period);
  return isTime(due) ? due : 0;
}

/** Pauses a rollout; sent in the same patch that begins it. */
export function pauseOperations(pausedAtKey: string, at: Date): PatchOperation[] {
  return [
    { op: 'add', path: '/spec/paused', value: true },
    { op: 'add', path: pointer('/metadata/annotations', pausedAtKey), value: at.toISOString() },
  ];
}

/**
 * Resumes a rollout, or only removes a `paused-at` that remained. Its tests fail if a pause began or ended since the read, or if
 * the object was replaced.
 */
export function resumePatch(
  workload: { readonly uid: string; readonly paused: boolean; readonly pausedAt: string },
  pausedAtKey: string,
): PatchOperation[] {
  const { uid, paused, pausedAt } = workload;
  const path = pointer('/metadata/annotations', pausedAtKey);
  const tests: PatchOperation[] = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path, value: pausedAt },
    // The API omits `false`.
    { op: 'test', path: '/spec/paused', value: paused ? true : null },
  ];
  const resume: PatchOperation[] = paused ? [{ op: 'replace', path: '/spec/paused', value: false }] : [];
  return [...tests, ...resume, { op: 'remove', path }];
}
