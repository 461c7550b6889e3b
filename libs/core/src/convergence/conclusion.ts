import type { UseKind } from './container-uses.ts';
import type { Verdict } from './verdict.ts';

/** A use of one source in one pod of its namespace, as it was judged. */
export interface JudgedUse extends Pick<Verdict, 'state' | 'why'> {
  readonly pod: string;
  /** Null: the pod as a whole. */
  readonly container: string | null;
  readonly use: UseKind;
}

/** Says in words whether any container still has older data of a source. `isComplete`: every pod was looked at. */
export function convergenceConclusion(uses: readonly JudgedUse[], isComplete: boolean): string {
  const stale = uses.filter(({ state }) => state === 'stale');
  const unknown = uses.filter(({ state }) => state === 'unknown');
  const unseen = isComplete ? '' : ' Not every pod was looked at.';
  if (stale.length > 0) {
    const still = containersOf(stale).length === 1 ? 'still does' : 'still do';
    const doubt = unknown.length === 0 ? '' : ` Of ${counted(unknown)} it is not known.`;
    return `${counted(stale)} ${still}.${doubt}${unseen}`;
  }
  if (unknown.length > 0) return `It is not known of ${counted(unknown)}: ${reasonOf(unknown)}.${unseen}`;
  if (!isComplete)
    return 'It is not known: not every pod was looked at. Those that were have the current data.';
  if (uses.length === 0) return 'Nobody: no running container uses it.';
  return `Nobody: ${counted(uses)} ${containersOf(uses).length === 1 ? 'has' : 'have'} the current data.`;
}

function containersOf(uses: readonly JudgedUse[]): string[] {
  return [...new Set(uses.map(({ pod, container }) => `${pod}/${container ?? ''}`))];
}

/** `2 containers of 1 pod`. */
function counted(uses: readonly JudgedUse[]): string {
  const pods = new Set(uses.map(({ pod }) => pod)).size;
  return `${numbered(containersOf(uses).length, 'container')} of ${numbered(pods, 'pod')}`;
}

function numbered(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`;
}

function reasonOf(uses: readonly JudgedUse[]): string {
  const [first, ...others] = new Set(uses.map(({ why }) => why));
  return others.length === 0 ? (first ?? '') : 'for several reasons';
}
