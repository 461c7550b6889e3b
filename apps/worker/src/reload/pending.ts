import type { Catalog } from '@reroll/redis/catalog/catalog';
import { isInConflict } from '@reroll/core/state/workloads/conflict';
import { pendingCauseOf } from '@reroll/core/state/pending';
import { sourceKeyIn } from '@reroll/core/state/rows';
import { NO_TRIGGERS } from '@reroll/core/state/settings';
import { namespaceOf, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import type { ReloadSettings } from './reload.processor.ts';

/** Whether a workload needs a reload as far as the catalog knows: two round trips to Redis, no read of the API server. */
export async function isPending(
  key: WorkloadKey,
  by: { catalog: Pick<Catalog, 'workloads' | 'sources'>; settings: Pick<ReloadSettings, 'onDelete'> },
): Promise<boolean> {
  const row = (await by.catalog.workloads([key])).get(key);
  if (!row || row.leftAlone !== undefined || isInConflict(row.conflict)) return false;
  const keyOf = (name: string): SourceKey => sourceKeyIn(namespaceOf(key), name);
  const sources = await by.catalog.sources(row.dependencies.map(keyOf));
  const pending = pendingCauseOf(row, (name) => sources.get(keyOf(name)), {
    ...NO_TRIGGERS,
    onDelete: by.settings.onDelete,
  });
  return pending === 'owed';
}
