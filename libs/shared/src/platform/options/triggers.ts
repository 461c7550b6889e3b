import type { Triggers } from '@reroll/core/state/settings';
import type { CommonOptions } from './parsing/table.ts';

/** What causes reloads besides changes of data, by the options. */
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

/** Whether a dependency without a record is reloaded if nothing shows that the pods have its data. */
export function adoptStaleOf(
  options: CommonOptions & { adoptStale: 'report' | 'reload' },
): 'report' | 'reload' {
  return options.reloadOnCreate && options.syncAfterRestart ? 'reload' : options.adoptStale;
}
