import { Pace } from '../pace.ts';

/** How the reader left an entry of the browser's history, kept in it for when they come back. */
interface LeftOff {
  /** How far it was scrolled (px). */
  readonly top?: number;
  /** How many further pages of a list were shown, by what is asked for it. */
  readonly pages?: Readonly<Record<string, number>>;
}

/** For how long what is shown may take to become as high as it was (ms). */
const PATIENCE = 5_000;
/** Browsers let an entry be written a hundred times in 30 seconds. */
const WRITES = { soon: 100, every: 500 };

/** What is still to be scrolled. */
let wanted: { readonly top: number; readonly until: number } | undefined;
/** The fragment of the page that is shown. `location` may already have that of the next one. */
let shown = '';

const pace = new Pace(keep, WRITES);

function keep(): void {
  if (!isWaiting() && shown === location.hash) leaveOff({ top: Math.round(scrollY) });
}

/** How many further pages of this list were shown when the reader left. */
export function pagesLeft(list: string): number {
  return leftOff().pages?.[list] ?? 0;
}

export function leavePages(list: string, pages: number): void {
  leaveOff({ pages: { ...leftOff().pages, [list]: pages } });
}

function leftOff(): LeftOff {
  return (history.state as LeftOff | null) ?? {};
}

function leaveOff(at: LeftOff): void {
  history.replaceState({ ...leftOff(), ...at }, '');
}

/** The reader has come to an entry of the history: if they were there before, it is scrolled as they left it. */
export function resume(): void {
  shown = location.hash;
  const { top } = leftOff();
  wanted = top === undefined ? undefined : { top, until: Date.now() + PATIENCE };
  // Once it is drawn. What is new begins where it is now.
  requestAnimationFrame(() => {
    scrollBack();
    pace.tell();
  });
}

/** Keeps how far the reader scrolls. */
export function keepScroll(): void {
  history.scrollRestoration = 'manual';
  addEventListener('scroll', () => pace.tell(), { passive: true });
  // The click may lead to another page before the position is written.
  addEventListener('click', keep, true);
  // The reader is doing something here: stop scrolling.
  for (const type of ['wheel', 'touchstart', 'pointerdown', 'keydown'])
    addEventListener(type, () => (wanted = undefined), { passive: true });
  new ResizeObserver(scrollBack).observe(document.body);
}

function isWaiting(): boolean {
  if (wanted && Date.now() > wanted.until) wanted = undefined;
  return wanted !== undefined;
}

/** As far as what is there lets it be scrolled by now. */
function scrollBack(): void {
  if (!isWaiting() || !wanted) return;
  scrollTo(0, wanted.top);
  if (Math.abs(scrollY - wanted.top) <= 1) wanted = undefined;
}
