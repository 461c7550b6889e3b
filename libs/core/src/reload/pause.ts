import { annotationOf, type AnnotationKeys } from '../annotations/annotation-keys.ts';
import { parseDuration } from '../durations.ts';
import type { Annotations, WorkloadKind } from '../model.ts';
import { pointer, type PatchOperation } from './json-patch.ts';

/** The kind whose rollout can be held back; on any other a period is told of as a mistake. */
const PAUSABLE = 'Deployment';

type PauseKeys = Pick<AnnotationKeys, 'pausePeriod' | 'pausedAt'>;

/** What a workload's annotations ask for when it is reloaded. */
export type PauseWish =
  | { readonly state: 'none' }
  /** Milliseconds, more than 0. */
  | { readonly state: 'pause'; readonly period: number }
  /** The annotation cannot be used: what was expected and what was given. The workload reloads all the same. */
  | { readonly state: 'unusable'; readonly problem: string };

/**
 * Reads the period for which a Deployment's rollout is held back after a reload (a Go duration). Zero and less
 * hold nothing back. With an empty key pausing is switched off.
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
 * When a Deployment that was paused at a reload is to go on: Unix milliseconds; undefined if there is nothing
 * to do, because nobody but its owner paused it. `paused-at` is by the clock of the worker that paused it. In
 * the past (0) if a time or period cannot be read, and for a `paused-at` that was left over by somebody who
 * resumed it by hand: that is only removed, so that it never speaks for a later pause of the owner's.
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
  const at = Date.parse(since);
  const period = parseDuration(annotationOf(annotations, keys.pausePeriod) ?? '');
  return Number.isNaN(at) || period === undefined ? 0 : at + Math.max(0, period);
}

/** Holds a rollout back: to be sent in the very patch that begins it. */
export function pauseOperations(pausedAtKey: string, at: Date): PatchOperation[] {
  return [
    { op: 'add', path: '/spec/paused', value: true },
    { op: 'add', path: pointer('/metadata/annotations', pausedAtKey), value: at.toISOString() },
  ];
}

/**
 * Lets a rollout go on, or only removes a `paused-at` that was left over. It applies to nothing but what was
 * read: a pause that began or ended since, or another object of that name, fails its tests.
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
    // The API leaves `false` out.
    { op: 'test', path: '/spec/paused', value: paused ? true : null },
  ];
  const resume: PatchOperation[] = paused ? [{ op: 'replace', path: '/spec/paused', value: false }] : [];
  return [...tests, ...resume, { op: 'remove', path }];
}
