/** Parts into which the time shown is cut. */
export const PARTS_SHOWN = 60;

/** A time, in Unix milliseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The same, as the edges of parts of the time shown: 0 is its beginning, `PARTS_SHOWN` its end. */
export interface Edges {
  readonly start: number;
  readonly end: number;
}

export const ALL: Edges = { start: 0, end: PARTS_SHOWN };

/** Where a span lies in the time shown; nothing selected is all of it. What lies outside of it is cut off. */
export function edgesOf(span: Span | undefined, shown: Span): Edges {
  if (!span) return ALL;
  const edge = (time: number): number =>
    within(Math.round(((time - shown.from) / (shown.to - shown.from)) * PARTS_SHOWN), 0, PARTS_SHOWN);
  return { start: edge(span.from), end: edge(span.to) };
}

/** The other way; all of the time shown is nothing selected. */
export function spanOf({ start, end }: Edges, shown: Span): Span | undefined {
  if (start === 0 && end === PARTS_SHOWN) return undefined;
  const time = (edge: number): number =>
    Math.round(shown.from + ((shown.to - shown.from) * edge) / PARTS_SHOWN);
  return { from: time(start), to: time(end) };
}

/** Every part that was touched between two places, in either direction: fractions of the width. */
export function draggedEdges(one: number, other: number): Edges {
  const part = (place: number): number => within(Math.floor(place * PARTS_SHOWN), 0, PARTS_SHOWN - 1);
  return { start: part(Math.min(one, other)), end: part(Math.max(one, other)) + 1 };
}

/** One edge moved, as far as the other lets it: a part at least stays selected. */
export function movedEdges(edges: Edges, which: keyof Edges, to: number): Edges {
  return which === 'start'
    ? { start: within(to, 0, Math.max(0, edges.end - 1)), end: Math.max(1, edges.end) }
    : {
        start: Math.min(edges.start, PARTS_SHOWN - 1),
        end: within(to, Math.min(edges.start, PARTS_SHOWN - 1) + 1, PARTS_SHOWN),
      };
}

function within(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
