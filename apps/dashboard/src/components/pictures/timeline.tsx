import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import { counted } from '../../words.ts';
import { hrefOf, type Query } from '../../router.ts';
import { clockOf, Handles, SelectionLine, useBrush, type Selection } from './timeline-brush.tsx';
import { bucketsOf, PARTS, roundTop, type Bucket, type Part } from './timeline-buckets.ts';
import { PARTS_SHOWN, type Edges } from './timeline-span.ts';

const HEIGHT = 96;
const WIDTH = 600;
/** Times below the axis, besides now. */
const TICKS = 4;

const LEGEND: Readonly<Record<Part, string>> = {
  good: 'Rolled out',
  busy: 'In progress',
  warn: 'Held or retrying',
  bad: 'Failed or stuck',
  quiet: 'Not reloaded',
};

interface TimelineProps {
  /** Of the list that has all of them. */
  readonly query: Query;
  readonly changes: readonly ChangeSummary[];
  readonly from: Date;
  readonly to: Date;
  /** Not all that happened in the time are given. */
  readonly isCut: boolean;
  readonly selection: Selection;
}

/** Workloads by the time of their change and by what became of them: a bar for each part of the time. A part of it can be selected. */
export function Timeline({ query, changes, from, to, isCut, selection }: TimelineProps): JSX.Element {
  const id = useId();
  const shown = { from: from.getTime(), to: to.getTime() };
  const brush = useBrush(shown, selection);
  const buckets = bucketsOf(changes, from, to);
  const top = roundTop(Math.max(...buckets.map(totalOf)));
  return (
    <figure class="timeline">
      <Legend buckets={buckets} />
      <div class="plot">
        <YAxis top={top} />
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-labelledby={id}
          {...brush.drag}
        >
          {[0, 0.5, 1].map((part) => (
            <path key={part} class="grid" d={`M0 ${part * (HEIGHT - 1) + 0.5}H${WIDTH}`} />
          ))}
          {buckets.map((bucket, index) => (
            <Bar key={bucket.from.getTime()} bucket={bucket} x={(index * WIDTH) / buckets.length} top={top} />
          ))}
          <Veil edges={brush.edges} />
        </svg>
        <Handles of={brush} shown={shown} />
        <div class="axis x" aria-hidden="true">
          {Array.from({ length: TICKS }, (_, tick) => (
            <span key={tick}>{clockOf(shown.from + ((shown.to - shown.from) * tick) / TICKS, shown)}</span>
          ))}
          <span>now</span>
        </div>
      </div>
      <figcaption>
        <span id={id}>{`Workloads of ${counted(changes.length, 'change')}, by time and state`}</span>
        <SelectionLine {...selection} />
      </figcaption>
      <NotDrawn changes={changes} isCut={isCut} query={query} />
    </figure>
  );
}

/** What the bars leave out. */
function NotDrawn({
  changes,
  isCut,
  query,
}: Pick<TimelineProps, 'changes' | 'isCut' | 'query'>): JSX.Element {
  const unlisted = changes.reduce((sum, { more }) => sum + (more ? more.woken + more.leftAlone : 0), 0);
  return (
    <>
      {unlisted === 0 ? null : (
        <p class="muted">
          {counted(unlisted, 'more workload')} {unlisted === 1 ? 'is' : 'are'} only counted, and not drawn.
        </p>
      )}
      {isCut ? (
        <p class="muted">
          {changes.length === 1
            ? 'Only the newest change is'
            : `Only the newest ${changes.length} changes are`}{' '}
          drawn. <a href={hrefOf('changes', [], query)}>All changes</a>
        </p>
      ) : null}
    </>
  );
}

/** Lies over what is not selected. */
function Veil({ edges: { start, end } }: { edges: Edges }): JSX.Element | null {
  if (start === 0 && end === PARTS_SHOWN) return null;
  const [left, right] = [start, end].map((edge) => (edge * WIDTH) / PARTS_SHOWN) as [number, number];
  return (
    <>
      <rect class="veil" x={0} y={0} width={left} height={HEIGHT} />
      <rect class="veil" x={right} y={0} width={WIDTH - right} height={HEIGHT} />
      <path class="selected" d={`M${left} 0V${HEIGHT}M${right} 0V${HEIGHT}`} />
    </>
  );
}

/** What the colors mean, with the numbers of the whole time. */
function Legend({ buckets }: { buckets: readonly Bucket[] }): JSX.Element {
  return (
    <ul class="legend">
      {PARTS.map((part) => (
        <li key={part}>
          <span class={`swatch ${part}`} aria-hidden="true" />
          {LEGEND[part]} <strong>{buckets.reduce((sum, bucket) => sum + bucket[part], 0)}</strong>
        </li>
      ))}
    </ul>
  );
}

function YAxis({ top }: { top: number }): JSX.Element {
  return (
    <div class="axis y" aria-hidden="true">
      <span>{top}</span>
      <span>{top > 1 ? top / 2 : ''}</span>
      <span>0</span>
    </div>
  );
}

function Bar({ bucket, x, top }: { bucket: Bucket; x: number; top: number }): JSX.Element {
  const width = WIDTH / PARTS_SHOWN - 2;
  let y = HEIGHT;
  return (
    <g>
      {PARTS.map((part) => {
        const height = (bucket[part] * HEIGHT) / top;
        if (height === 0) return null;
        y -= height;
        return (
          <rect
            key={part}
            class={`bar ${part}`}
            x={x + 1}
            y={y}
            width={width}
            height={Math.max(1, height - 0.5)}
          />
        );
      })}
    </g>
  );
}

function totalOf(bucket: Bucket): number {
  return PARTS.reduce((sum, part) => sum + bucket[part], 0);
}
