import type { Annotations } from '../model.ts';

/** Annotation of a pod template: the last reload that a person asked for, by the id of the request. */
export const REQUEST_ANNOTATION = 'reroll.dev/reload-request';

/** A template's id further in the future than this (ms) was never one of ours: clocks need not agree to the second. */
const TOLERANCE = 300_000;

const ID = /^([0-9]{1,15})-([0-9a-f]{10})$/u;

/** `<Unix ms>-<ten hexadecimal digits>` */
export function isRequestId(text: string): boolean {
  return ID.test(text);
}

/**
 * Whether a pod template with the id `done` was rolled for the request already: it is the request's, or that of a
 * later one. One that is too far in the future does not count. `now` in Unix ms.
 */
export function isRequestDone(done: string | undefined, request: string, now: number): boolean {
  if (done === undefined) return false;
  if (done === request) return true;
  const [was, is] = [timeOf(done), timeOf(request)];
  return was !== undefined && is !== undefined && was > is && was <= now + TOLERANCE;
}

function timeOf(id: string): number | undefined {
  const time = ID.exec(id)?.[1];
  return time === undefined ? undefined : Number(time);
}

export interface RequestFacts {
  /** Id of the request that is open; undefined: there is none. */
  readonly request: string | undefined;
  /** Annotations of the pod template, and of the workload itself. */
  readonly template: Annotations | undefined;
  readonly workload: Annotations | undefined;
  /** How many dependencies the workload has. */
  readonly dependencies: number;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * What a person's request comes to: `reload` it, or it is `done` already, or the workload does not opt in by its own
 * annotations (`notAsked`), or there is none.
 */
export type RequestState = 'none' | 'reload' | 'done' | 'notAsked';

export function requestState({ request, template, workload, dependencies, now }: RequestFacts): RequestState {
  if (request === undefined) return 'none';
  const ids = [template?.[REQUEST_ANNOTATION], workload?.[REQUEST_ANNOTATION]];
  if (ids.some((done) => isRequestDone(done, request, now))) return 'done';
  return dependencies > 0 ? 'reload' : 'notAsked';
}
