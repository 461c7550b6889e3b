import type { Triggers } from '@reroll/core/state/settings';
import type { CommonOptions } from './parsing/table.ts';

/** What rolls besides a change of data, by the options. */
export function triggersOf(options: CommonOptions): Triggers {
  const { reloadOnCreate, reloadOnDelete, syncAfterRestart, reloadStrategy, webhookUrl } = options;
  const ifDeleted = reloadStrategy === 'env-vars' ? 'marked' : 'always';
  return {
    onCreate: reloadOnCreate,
    onDelete: reloadOnDelete ? ifDeleted : 'never',
    afterRestart: syncAfterRestart,
    announced: webhookUrl !== undefined,
  };
}

/** Whether a dependency without a record, of which nothing tells whether the pods have its data, is rolled. */
export function adoptStaleOf(
  options: CommonOptions & { adoptStale: 'report' | 'reload' },
): 'report' | 'reload' {
  return options.reloadOnCreate && options.syncAfterRestart ? 'reload' : options.adoptStale;
}
