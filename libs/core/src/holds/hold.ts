import type { Annotations } from '../model.ts';
import type { Reason } from '../reasons.ts';

/** The annotations by which reloads are held; on a workload or on its Namespace. */
export const FREEZE_ANNOTATION = 'reroll.dev/freeze';
export const WINDOW_ANNOTATION = 'reroll.dev/window';
export const APPROVAL_ANNOTATION = 'reroll.dev/approval';
export const LIMIT_ANNOTATION = 'reroll.dev/reload-limit';
/** On a Namespace: how many of its workloads are rolled out at once for Reroll. */
export const ROLLOUTS_ANNOTATION = 'reroll.dev/max-concurrent-rollouts';
/** On a workload: the id of what may be reloaded. */
export const APPROVED_ANNOTATION = 'reroll.dev/approved';
/** On the Namespace of the installation: nothing is reloaded anywhere. Read like `FREEZE_ANNOTATION`. */
export const FREEZE_ALL_ANNOTATION = 'reroll.dev/freeze-all';

/** On a source or its Namespace: how many workloads each wave of a change reaches, and how long one is observed before the next. */
export const WAVES_ANNOTATION = 'reroll.dev/waves';
export const BAKE_ANNOTATION = 'reroll.dev/bake';
/** On a workload: its place among those of a change. Those without it come last. */
export const WAVE_ANNOTATION = 'reroll.dev/wave';
/** On a source: the resourceVersion up to which a halted change goes on, and why: `<resourceVersion>; <reason>`. */
export const RESUMED_ANNOTATION = 'reroll.dev/resumed';

/** Those that a workload may have. */
export const HOLD_ANNOTATIONS = [
  FREEZE_ANNOTATION,
  WINDOW_ANNOTATION,
  APPROVAL_ANNOTATION,
  LIMIT_ANNOTATION,
  APPROVED_ANNOTATION,
  WAVE_ANNOTATION,
] as const;

/** Those of waves that a source may have. */
export const SOURCE_WAVE_ANNOTATIONS = [WAVES_ANNOTATION, BAKE_ANNOTATION, RESUMED_ANNOTATION] as const;

const HOLD_REASONS = [
  'Frozen',
  'OutsideWindow',
  'AwaitsApproval',
  'TooOften',
  'AwaitsWave',
  'WaveHalted',
  'AwaitsRollouts',
] as const satisfies Reason[];
export type HoldReason = (typeof HOLD_REASONS)[number];

export function isHoldReason(reason: Reason): reason is HoldReason {
  return (HOLD_REASONS as readonly Reason[]).includes(reason);
}

/** The annotations of Namespaces that decide about the holds of a workload: of its own, and of that of the installation. */
export interface NamespaceHolds {
  readonly namespace: Annotations;
  readonly installation: Annotations;
}

/** Why a workload that is pending is not reloaded now. */
export interface ReloadHold {
  readonly reason: HoldReason;
  /** Unix milliseconds at which it ends; undefined if somebody has to end it. */
  readonly until?: number;
  /** Unix milliseconds at which to look again if it may end before, or without anybody telling; undefined: later and later. */
  readonly lookAt?: number;
  /** `WaveHalted`: `<kind>/<name>` of the source. */
  readonly halted?: string;
  /** `AwaitsRollouts`: the most rollouts in the namespace at once, if it has a limit of its own. */
  readonly most?: number | undefined;
  /** One sentence for the owner. */
  readonly detail: string;
}

/** In the detail of a hold by waves or a bake time that somebody has to mend: no wave's turn ends it. */
export const CANNOT_BE_READ = 'cannot be read';

/** `until 2026-12-31T00:00:00.000Z` */
export function untilText(until: number): string {
  return `until ${new Date(until).toISOString()}`;
}

/** What was given, shortened, for an error. */
export function given(text: string): string {
  return `given ${JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)}`;
}
