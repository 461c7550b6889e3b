import type { Feed } from './list-filler.ts';

/**
 * The same function, which does nothing once the signal has fired: a handler that waited for Redis or the API
 * server may go on after its stream was stopped, and what it tells then is of what was forgotten.
 */
export function deafAfter<A extends unknown[], R>(
  ended: AbortSignal,
  tell: (...told: A) => R,
): (...told: A) => R | undefined {
  return (...told) => (ended.aborted ? undefined : tell(...told));
}

export function feedUntil<Seen, Row>(ended: AbortSignal, feed: Feed<Seen, Row>): Feed<Seen, Row> {
  return {
    ...feed,
    listBegins: deafAfter(ended, () => feed.listBegins()),
    found: deafAfter(ended, (portion) => feed.found(portion)),
    listed: deafAfter(ended, (list) => feed.listed(list)),
    written: deafAfter(ended, (seen) => feed.written(seen)),
    deleted: deafAfter(ended, (seen) => feed.deleted(seen)),
  };
}
