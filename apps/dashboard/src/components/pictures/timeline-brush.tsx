import type { JSX, TargetedPointerEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../../state/announcer.ts';
import {
  draggedEdges,
  edgesOf,
  movedEdges,
  PARTS_SHOWN,
  spanOf,
  type Edges,
  type Span,
} from './timeline-span.ts';

/** How long a handle has rested before what it selects is asked for (ms). */
const REST = 300;

export interface Selection {
  /** Undefined: nothing is selected. */
  readonly span: Span | undefined;
  readonly select: (span: Span | undefined) => void;
}

interface Brush {
  readonly edges: Edges;
  /** Shows edges while they are moved; they are taken when they rest, or at once. */
  readonly move: (edges: Edges, isAtOnce?: boolean) => void;
  readonly drag: Readonly<
    Record<
      'onPointerDown' | 'onPointerMove' | 'onPointerUp' | 'onPointerCancel',
      (event: TargetedPointerEvent<SVGSVGElement>) => void
    >
  >;
}

/** Selects a part of the time shown, by a drag over the picture or by the handles. */
export function useBrush(shown: Span, { span, select }: Selection): Brush {
  const [draft, setDraft] = useState<Edges | undefined>(undefined);
  const began = useRef<number | undefined>(undefined);
  const rest = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(rest.current), []);

  const take = (edges: Edges): void => {
    const taken = spanOf(edges, shown);
    setDraft(undefined);
    select(taken);
    announce(taken ? `Selected: ${spanWords(taken)}` : 'The whole time is selected');
  };
  const move = (edges: Edges, isAtOnce = false): void => {
    clearTimeout(rest.current);
    if (isAtOnce) return take(edges);
    setDraft(edges);
    rest.current = setTimeout(() => take(edges), REST);
  };
  return {
    edges: draft ?? edgesOf(span, shown),
    move,
    drag: {
      onPointerDown: (event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        began.current = placeOf(event);
        setDraft(draggedEdges(began.current, began.current));
      },
      onPointerMove: (event) => {
        if (began.current !== undefined) setDraft(draggedEdges(began.current, placeOf(event)));
      },
      onPointerUp: (event) => {
        if (began.current === undefined) return;
        const edges = draggedEdges(began.current, placeOf(event));
        began.current = undefined;
        move(edges, true);
      },
      onPointerCancel: () => {
        began.current = undefined;
        setDraft(undefined);
      },
    },
  };
}

/** How far to the right, as a fraction of the width. */
function placeOf(event: TargetedPointerEvent<SVGSVGElement>): number {
  const { left, width } = event.currentTarget.getBoundingClientRect();
  return (event.clientX - left) / width;
}

/** A handle at each end of what is selected, for keys and fingers. */
export function Handles({ of: { edges, move }, shown }: { of: Brush; shown: Span }): JSX.Element {
  return (
    <div class="handles" role="group" aria-label="Selected time">
      {(['start', 'end'] as const).map((which) => (
        <input
          key={which}
          type="range"
          min={0}
          max={PARTS_SHOWN}
          value={edges[which]}
          aria-label={which === 'start' ? 'From' : 'To'}
          aria-valuetext={clockOf(shown.from + ((shown.to - shown.from) * edges[which]) / PARTS_SHOWN, shown)}
          onInput={({ currentTarget }) => {
            const moved = movedEdges(edges, which, Number(currentTarget.value));
            // Back to where the other one stops it.
            currentTarget.value = `${moved[which]}`;
            move(moved);
          }}
        />
      ))}
    </div>
  );
}

/** What is selected, and the way back; or that something can be. */
export function SelectionLine({ span, select }: Selection): JSX.Element {
  if (!span) return <span>Drag over the bars, or move the handles, to select a period.</span>;
  return (
    <p class="selection">
      <strong>{spanWords(span)}</strong>
      <button
        type="button"
        onClick={() => {
          select(undefined);
          announce('The whole time is selected');
        }}
      >
        Clear selection
      </button>
    </p>
  );
}

const DAY = 86_400_000;

/** `14:05 to 14:12`, with the days if they are not today. */
export function spanWords(span: Span): string {
  const from = new Date(span.from);
  const to = new Date(span.to);
  const today = new Date().toDateString();
  const isToday = from.toDateString() === today && to.toDateString() === today;
  const words = (time: Date): string => time.toLocaleString('en-GB', isToday ? CLOCK : DAY_AND_CLOCK);
  return `${words(from)} to ${words(to)}`;
}

/** A time on an axis: the clock, with the day if more than a day is shown. */
export function clockOf(time: number, shown: Span): string {
  const isLong = shown.to - shown.from > DAY;
  return new Date(time).toLocaleString('en-GB', isLong ? DAY_AND_CLOCK : CLOCK);
}

const CLOCK = { hour: '2-digit', minute: '2-digit' } as const;
const DAY_AND_CLOCK = { ...CLOCK, day: 'numeric', month: 'short' } as const;
