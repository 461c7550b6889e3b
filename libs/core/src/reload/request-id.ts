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
