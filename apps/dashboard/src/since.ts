import type { Span } from './components/pictures/timeline-span.ts';
import type { Query } from './router.ts';

/** Choices of how far back to look: minutes, and the words. */
export const SINCE = [
  ['15', '15 minutes'],
  ['60', '1 hour'],
  ['360', '6 hours'],
  ['1440', '1 day'],
  ['10080', '7 days'],
] as const;

/** The time that many minutes ago, to the minute, as the API takes it; undefined for what is no number. */
export function sinceOf(minutes: string | undefined): string | undefined {
  const count = minutesOf(minutes);
  if (count === undefined) return undefined;
  return new Date(Math.floor(Date.now() / 60_000 - count) * 60_000).toISOString();
}

/** The number that stands in a route; undefined if it is none. */
export function minutesOf(minutes: string | undefined): number | undefined {
  const count = Number(minutes);
  return minutes === undefined || !Number.isFinite(count) || count <= 0 ? undefined : count;
}

/** How a span of time stands in a route. */
export function spanQuery(span: Span | undefined): Query {
  return span ? { from: new Date(span.from).toISOString(), until: new Date(span.to).toISOString() } : {};
}

/** The span that stands in a route; undefined if there is none. */
export function spanIn({ from = '', until = '' }: Query): Span | undefined {
  const span = { from: Date.parse(from), to: Date.parse(until) };
  return span.from < span.to ? span : undefined;
}
