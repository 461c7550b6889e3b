import type { Reason } from '../reasons.ts';

/** The annotations by which reloads are held; on a workload or on its Namespace. */
export const FREEZE_ANNOTATION = 'reroll.dev/freeze';
export const WINDOW_ANNOTATION = 'reroll.dev/window';
export const APPROVAL_ANNOTATION = 'reroll.dev/approval';
export const LIMIT_ANNOTATION = 'reroll.dev/reload-limit';
/** On a workload: the id of what may be reloaded. */
export const APPROVED_ANNOTATION = 'reroll.dev/approved';
/** On the Namespace of the installation: nothing is reloaded anywhere. Read like `FREEZE_ANNOTATION`. */
export const FREEZE_ALL_ANNOTATION = 'reroll.dev/freeze-all';

/** Those that a workload may have. */
export const HOLD_ANNOTATIONS = [
  FREEZE_ANNOTATION,
  WINDOW_ANNOTATION,
  APPROVAL_ANNOTATION,
  LIMIT_ANNOTATION,
  APPROVED_ANNOTATION,
] as const;

const HOLD_REASONS = ['Frozen', 'OutsideWindow', 'AwaitsApproval', 'TooOften'] as const satisfies Reason[];
export type HoldReason = (typeof HOLD_REASONS)[number];

export function isHoldReason(reason: Reason): reason is HoldReason {
  return (HOLD_REASONS as readonly Reason[]).includes(reason);
}

/** Why a workload that is pending is not reloaded now. */
export interface ReloadHold {
  readonly reason: HoldReason;
  /** Unix milliseconds at which it ends; undefined if somebody has to end it. */
  readonly until?: number;
  /** One sentence for the owner. */
  readonly detail: string;
}

/** `until 2026-12-31T00:00:00.000Z` */
export function untilText(until: number): string {
  return `until ${new Date(until).toISOString()}`;
}

/** What was given, shortened, for an error. */
export function given(text: string): string {
  return `given ${JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)}`;
}
