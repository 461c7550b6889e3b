import type { ReloadState } from '@reroll/core/history/states';

/** States that do not change any more. True: the workload has what it was to get. */
export const ENDS: Readonly<Partial<Record<ReloadState, boolean>>> = {
  rolledOut: true,
  stuck: false,
  failed: false,
  skipped: false,
  recorded: false,
  wouldReload: false,
  forgotten: false,
};
/** Ends that are no failure of a change as a whole. */
export const PASSED_OVER: ReadonlySet<ReloadState> = new Set(['skipped', 'recorded', 'wouldReload']);
