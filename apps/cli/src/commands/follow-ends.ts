import type { ReloadState } from '@reroll/core/history/states';

/** How a state that does not change any more ends a workload: it has the change, does not get it by rule, or should have got it. */
type End = 'done' | 'passedOver' | 'failed';

/** Of the states that do not change any more. */
export const ENDS: Readonly<Partial<Record<ReloadState, End>>> = {
  rolledOut: 'done',
  skipped: 'passedOver',
  recorded: 'passedOver',
  wouldReload: 'passedOver',
  stuck: 'failed',
  failed: 'failed',
  forgotten: 'failed',
};
