import { describe, expect, it } from 'vitest';
import { ALL, draggedEdges, edgesOf, movedEdges, spanOf } from './timeline-span.ts';

const SHOWN = { from: 1_000_000, to: 1_600_000 };

describe('a span of the time shown', () => {
  it('is nothing selected if it is all', () => {
    expect(edgesOf(undefined, SHOWN)).toEqual(ALL);
    expect(spanOf(ALL, SHOWN)).toBeUndefined();
  });

  it('goes from edge to edge and back', () => {
    const span = { from: 1_010_000, to: 1_200_000 };
    expect(edgesOf(span, SHOWN)).toEqual({ start: 1, end: 20 });
    expect(spanOf({ start: 1, end: 20 }, SHOWN)).toEqual(span);
  });

  it('stays where it is in time while the time shown moves on, and is cut off at its beginning', () => {
    const span = { from: 1_010_000, to: 1_200_000 };
    const later = { from: 1_100_000, to: 1_700_000 };
    expect(edgesOf(span, later)).toEqual({ start: 0, end: 10 });
    expect(edgesOf({ from: 0, to: 1 }, later)).toEqual({ start: 0, end: 0 });
  });
});

describe('a drag', () => {
  it.each([
    ['forwards', 0.26, 0.51],
    ['backwards', 0.51, 0.26],
  ])('%s selects every part that it touched', (_way, one, other) => {
    expect(draggedEdges(one, other)).toEqual({ start: 15, end: 31 });
  });

  it('that does not move selects a part, and one beyond the picture ends at it', () => {
    expect(draggedEdges(0.5, 0.5)).toEqual({ start: 30, end: 31 });
    expect(draggedEdges(-0.5, 1.5)).toEqual(ALL);
  });
});

describe('an edge that is moved', () => {
  it('leaves the other where it is, and a part between them', () => {
    const edges = { start: 10, end: 20 };
    expect(movedEdges(edges, 'start', 12)).toEqual({ start: 12, end: 20 });
    expect(movedEdges(edges, 'start', 40)).toEqual({ start: 19, end: 20 });
    expect(movedEdges(edges, 'end', 5)).toEqual({ start: 10, end: 11 });
    expect(movedEdges(edges, 'end', 99)).toEqual({ start: 10, end: 60 });
  });

  it('comes back from a span that is no longer shown', () => {
    expect(movedEdges({ start: 0, end: 0 }, 'start', 3)).toEqual({ start: 0, end: 1 });
    expect(movedEdges({ start: 60, end: 60 }, 'end', 60)).toEqual({ start: 59, end: 60 });
  });
});
