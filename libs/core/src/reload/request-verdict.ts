import type { Annotations } from '../model.ts';
import { isRequestDone, REQUEST_ANNOTATION } from './request-id.ts';

export interface RequestFacts {
  /** Id of the request that is open; undefined: there is none. */
  readonly request: string | undefined;
  /** Annotations of the pod template, and of the workload itself. */
  readonly template: Annotations | undefined;
  readonly workload: Annotations | undefined;
  /** How many sources roll the workload, by the rules. */
  readonly dependencies: number;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * What a person's request comes to: `roll` it, or it is `done` already, or the workload does not opt in by its own
 * annotations (`notAsked`), or there is none.
 */
export type RequestVerdict = 'none' | 'roll' | 'done' | 'notAsked';

export function requestVerdict({
  request,
  template,
  workload,
  dependencies,
  now,
}: RequestFacts): RequestVerdict {
  if (request === undefined) return 'none';
  const ids = [template?.[REQUEST_ANNOTATION], workload?.[REQUEST_ANNOTATION]];
  if (ids.some((done) => isRequestDone(done, request, now))) return 'done';
  return dependencies > 0 ? 'roll' : 'notAsked';
}
