import type { JSX } from 'preact';
import type { Look, Sign } from '../words.ts';

/** Drawn in a box of 16 × 16. */
const PATHS: Readonly<Record<Sign, string>> = {
  circle: 'M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11z',
  ring: 'M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11z',
  clock: 'M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM8 5v3.2l2.2 1.4',
  half: 'M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM8 4.5v7M9.8 5v6M11.6 6.4v3.2',
  again: 'M13 8a5 5 0 1 1-1.6-3.7M13.2 2v3h-3',
  arrow: 'M2.5 8h10M9 4.5 12.5 8 9 11.5',
  check: 'M3 8.5 6.5 12 13 4.5',
  alert: 'M8 2.5 14 13H2zM8 6.5v3M8 11.2v.3',
  dot: 'M8 6.6a1.4 1.4 0 1 1 0 2.8 1.4 1.4 0 0 1 0-2.8z',
  dash: 'M4 8h8',
  cross: 'M4 4l8 8M12 4l-8 8',
};

/** A state: sign and word together, its meaning as the title. */
export function Badge({ look, count }: { look: Look; count?: number | undefined }): JSX.Element {
  return (
    <span class={`badge ${look.tone}`} title={look.meaning}>
      <SignIcon sign={look.sign} />
      {count === undefined ? look.word : `${count} ${look.word.toLowerCase()}`}
    </span>
  );
}

export function SignIcon({ sign }: { sign: Sign }): JSX.Element {
  return (
    <svg class={`sign${sign === 'ring' ? ' dashed' : ''}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[sign]} />
    </svg>
  );
}
