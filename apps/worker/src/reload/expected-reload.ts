import { partsOf, type WorkloadKey } from '@reroll/core/model';
import { recordedHashes } from '@reroll/core/record/record';
import { pendingCauseOfDependency } from '@reroll/core/state/pending';
import { sourceKeyIn } from '@reroll/core/state/rows';
import type { Triggers } from '@reroll/core/state/settings';
import { isInConflict } from '@reroll/core/state/workloads/conflict';
import { workloadKind } from '@reroll/kube/workloads/registry';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { ReloadRequest } from '@reroll/redis/catalog/requests';
import type { Held } from './reload-holds.ts';

export interface Expectation {
  readonly catalog: Pick<Catalog, 'workloads' | 'sources'>;
  /** The manual reload that was requested. */
  readonly request: ReloadRequest | undefined;
  readonly triggers: Triggers;
}

/**
 * The reload that the catalog's rows show as pending; undefined if they show none. Does not read from the API server. Rejects with
 * ioredis' error.
 */
export async function expectedReload(
  key: WorkloadKey,
  { catalog, request, triggers }: Expectation,
): Promise<Held | undefined> {
  const { kind, namespace } = partsOf(key);
  const definition = workloadKind(kind);
  const row = (await catalog.workloads([key])).get(key);
  // A workload that is left alone has no dependencies.
  if (!row || !definition || row.dependencies.length === 0 || isInConflict(row.conflict)) return undefined;
  const names = row.dependencies.map((name) => [name, sourceKeyIn(namespace, name)] as const);
  const sources = await catalog.sources(names.map(([, source]) => source));
  const recorded = recordedHashes(row.record);
  const roll = names.flatMap(([name, source]) => {
    const dependency = { name, source: sources.get(source), recorded: recorded[name] };
    return pendingCauseOfDependency(row, dependency, triggers) === 'owed' ? [name] : [];
  });
  if (roll.length === 0 && !request) return undefined;
  return {
    workload: {
      key,
      definition,
      observed: { ...row, key, kind, namespace },
      facts: { workload: row, sources, readings: new Map() },
    },
    plan: { roll, hashes: null },
    request: request?.id,
    passes: request?.passes,
  };
}
