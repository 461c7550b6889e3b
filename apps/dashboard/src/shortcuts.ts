import { go } from './router.ts';
import { hasShortcuts } from './state/preferences.ts';

/** Pages by the letter that follows `g`. */
export const GO_KEYS = [
  ['o', '', 'Overview'],
  ['c', 'changes', 'Changes'],
  ['w', 'workloads', 'Workloads'],
  ['s', 'sources', 'Sources'],
  ['e', 'explain', 'Explain'],
  ['p', 'preview', 'Preview'],
  ['j', 'jobs', 'Jobs'],
  ['a', 'audit', 'Audit'],
] as const;

/** `g` and the letter are two keys within this time. */
const TOGETHER = 1_500;

/** Keys of one letter, while nobody types and no dialog is open. `/` searches, `?` helps, `g` and a letter go to a page. */
export function listenToKeys({ help, search }: { help: () => void; search: () => void }): void {
  let goUntil = 0;
  addEventListener('keydown', (event) => {
    if (!hasShortcuts.value || event.ctrlKey || event.metaKey || event.altKey || isBusy(event)) return;
    const isSecond = event.timeStamp < goUntil;
    goUntil = event.key === 'g' ? event.timeStamp + TOGETHER : 0;
    const page = isSecond ? GO_KEYS.find(([key]) => key === event.key) : undefined;
    const act = page ? () => go(page[1]) : { '/': search, '?': help }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function isBusy({ target }: KeyboardEvent): boolean {
  const types = target instanceof HTMLElement && target.matches('input, textarea, select');
  return types || document.querySelector('dialog[open]') !== null;
}
