import type { JSX } from 'preact';

/** Drawn in a box of 16 × 16, by the page that they lead to. */
const PATHS = {
  '': 'M2.5 2.5h4.5v5h-4.5zM9 2.5h4.5v3H9zM9 8h4.5v5.5H9zM2.5 10h4.5v3.5h-4.5z',
  changes: 'M8 2.2a5.8 5.8 0 1 1-5.2 3.2M2.4 2.4v3.2h3.2M8 5v3.3l2.2 1.4',
  workloads: 'M8 1.8l5.5 3v6.4L8 14.2l-5.5-3V4.8zM2.5 4.8 8 8l5.5-3.2M8 8v6.2',
  sources: 'M3.5 1.8h6l3 3v9.4h-9zM9.5 1.8v3h3M5.8 8h4.4M5.8 10.8h4.4',
  jobs: 'M2.5 4h11M2.5 8h11M2.5 12h6.5',
  audit: 'M8 1.8l5 1.9v3.9c0 3.1-2.1 5.3-5 6.6-2.9-1.3-5-3.5-5-6.6V3.7zM5.7 7.9l1.7 1.7 3-3.2',
  explain: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM6.3 6.3a1.75 1.75 0 1 1 2.4 1.6c-.5.2-.7.5-.7 1.1M8 11.3v.2',
  preview: 'M1.5 8S4 3.6 8 3.6 14.5 8 14.5 8 12 12.4 8 12.4 1.5 8 1.5 8zM8 6a2 2 0 1 1 0 4 2 2 0 0 1 0-4z',
} as const;

export type NavPage = keyof typeof PATHS;

export function NavIcon({ page }: { page: NavPage }): JSX.Element {
  return (
    <svg class="nav-icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[page]} />
    </svg>
  );
}
