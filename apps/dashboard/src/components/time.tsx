import type { JSX } from 'preact';
import { pulse } from '../state/live.ts';
import { localTime, relativeTime, utcTime } from '../time.ts';

interface TimeProps {
  readonly at: string | Date | null | undefined;
  /** Shown if there is no time. */
  readonly none?: string;
}

/** A time: in the reader's zone, how long ago that was, and in UTC as its title. */
export function Time({ at, none = '–' }: TimeProps): JSX.Element {
  // How long ago it was moves on while the page is open.
  void pulse.value;
  if (at === null || at === undefined) return <span class="muted">{none}</span>;
  const time = new Date(at);
  const now = new Date();
  return (
    <time dateTime={time.toISOString()} title={utcTime(time)}>
      {localTime(time, now)} <span class="ago">{relativeTime(time, now)}</span>
    </time>
  );
}
