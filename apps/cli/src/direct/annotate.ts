import { MERGE_PATCH } from '@reroll/kube/client/connection';
import { objectPath } from '@reroll/kube/objects';
import { workloadKind } from '@reroll/kube/workloads/registry';
import type { WorkloadRef } from '../args/object-ref.ts';
import type { Session } from '../session.ts';

/** The path of a workload in the API. */
export function pathOf(workload: WorkloadRef): string {
  const definition = workloadKind(workload.kind);
  if (!definition) throw new RangeError(`no workload kind ${workload.kind}`);
  return objectPath(definition, workload);
}

/** Writes an annotation of an object, or takes it away (`null`), with the rights of the user. */
export async function annotate(
  { cluster }: Session,
  path: string,
  annotations: Readonly<Record<string, string | null>>,
): Promise<void> {
  const options = { contentType: MERGE_PATCH, query: { fieldManager: 'reroll-cli' } };
  await cluster.client.patch(path, { metadata: { annotations } }, options);
}
