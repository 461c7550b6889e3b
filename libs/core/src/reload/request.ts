import type { Annotations } from '../model.ts';

/** Annotation of a pod template: the id of its last manual reload. */
export const REQUEST_ANNOTATION = 'reroll.dev/reload-request';

/** An id that is further in the future than this (ms) is not one of ours. Clocks may differ by seconds. */
const TOLERANCE = 300_000;

const ID = /^([0-9]{1,15})-([0-9a-f]{10})$/u;

/** `<Unix ms>-<ten hexadecimal digits>` */
export function isRequestId(text: string): boolean {
  return ID.test(text);
}

/**
 * Whether a pod template with the id `done` already covers the request: `done` is this request's id or a later one's, and is not
 * too far in the future. `now` in Unix ms.
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
  /** Id of the open request; undefined if there is none. */
  readonly request: string | undefined;
  /** Annotations of the pod template and of the workload. */
  readonly template: Annotations | undefined;
  readonly workload: Annotations | undefined;
  /** How many dependencies the workload has. */
  readonly dependencies: number;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * The state of a manual reload: `reload` it, it is `done`, the workload does not opt in by its own annotations (`notAsked`), or
 * there is no request.
 */
export type RequestState = 'none' | 'reload' | 'done' | 'notAsked';

export function requestState({ request, template, workload, dependencies, now }: RequestFacts): RequestState {
  if (request === undefined) return 'none';
  const ids = [template?.[REQUEST_ANNOTATION], workload?.[REQUEST_ANNOTATION]];
  if (ids.some((done) => isRequestDone(done, request, now))) return 'done';
  return dependencies > 0 ? 'reload' : 'notAsked';
}
