import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import { counted } from '../../words.ts';
import { hrefOf } from '../../router.ts';
import { bucketsOf, type Bucket } from './timeline-buckets.ts';

const HEIGHT = 64;
const WIDTH = 600;

interface TimelineProps {
  readonly changes: readonly ChangeSummary[];
  readonly from: Date;
  readonly to: Date;
  /** Not all that happened in the time are given. */
  readonly isCut: boolean;
}

/** What became of workloads over time, a bar for each part of it. */
export function Timeline({ changes, from, to, isCut }: TimelineProps): JSX.Element {
  const id = useId();
  const buckets = bucketsOf(changes, from, to);
  const most = Math.max(1, ...buckets.map(({ good, busy, bad, quiet }) => good + busy + bad + quiet));
  return (
    <figure class="timeline">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-labelledby={id}>
        <path class="base" d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
        {buckets.map((bucket, index) => (
          <Bar key={bucket.from.getTime()} bucket={bucket} x={(index * WIDTH) / buckets.length} most={most} />
        ))}
      </svg>
      <div class="axis" aria-hidden="true">
        <span>{clock(from)}</span>
        <span>{clock(new Date((from.getTime() + to.getTime()) / 2))}</span>
        <span>now</span>
      </div>
      <figcaption id={id}>{sentenceOf(changes, buckets)}</figcaption>
      {isCut ? (
        <p class="muted">
          Only the newest {changes.length} changes are drawn. <a href={hrefOf('changes')}>All changes</a>
        </p>
      ) : null}
    </figure>
  );
}

const PARTS = ['good', 'busy', 'quiet', 'bad'] as const;

function Bar({ bucket, x, most }: { bucket: Bucket; x: number; most: number }): JSX.Element {
  const width = WIDTH / 60 - 2;
  let top = HEIGHT - 1;
  return (
    <g>
      {PARTS.map((part) => {
        const height = (bucket[part] * (HEIGHT - 6)) / most;
        if (height === 0) return null;
        top -= height;
        return (
          <rect
            key={part}
            class={`bar ${part}`}
            x={x + 1}
            y={top}
            width={width}
            height={Math.max(1, height - 0.5)}
          />
        );
      })}
    </g>
  );
}

function sentenceOf(changes: readonly ChangeSummary[], buckets: readonly Bucket[]): string {
  const sum = (part: (typeof PARTS)[number]): number =>
    buckets.reduce((total, bucket) => total + bucket[part], 0);
  if (changes.length === 0) return 'No changes in this time.';
  const told = [
    [sum('good'), 'rolled out'],
    [sum('busy'), 'under way'],
    [sum('quiet'), 'left as they were'],
    [sum('bad'), 'failed or stuck'],
  ] as const;
  const parts = told.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return `${counted(changes.length, 'change')}; of their workloads: ${parts.join(', ') || 'none'}.`;
}

function clock(time: Date): string {
  return time.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}
