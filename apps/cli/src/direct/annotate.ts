import { MERGE_PATCH, METADATA_ONLY } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { objectPath } from '@reroll/kube/objects';
import { workloadKind } from '@reroll/kube/workloads/registry';
import type { WorkloadRef } from '../args/object-ref.ts';
import { CliError } from '../errors.ts';
import type { Session } from '../session.ts';

/** The path of a workload in the API. */
export function pathOf(workload: WorkloadRef): string {
  const definition = workloadKind(workload.kind);
  if (!definition) throw new RangeError(`no workload kind ${workload.kind}`);
  return objectPath(definition, workload);
}

interface Change {
  /** `null` takes one away. */
  readonly annotations: Readonly<Record<string, string | null>>;
  /** The write is refused (409) unless the object still has it. Default: it is written anyway. */
  readonly resourceVersion?: string;
}

/** Writes annotations of an object with the rights of the user. Only the object's metadata come back. */
export async function annotate({ cluster }: Session, path: string, metadata: Change): Promise<void> {
  const query = { fieldManager: 'reroll-cli' };
  const options = { contentType: MERGE_PATCH, accept: METADATA_ONLY, query };
  await cluster.client.patch(path, { metadata }, options);
}

/** Resolves as `answer`. @throws a `CliError` if the API server does not know the object, `deployment/web in the namespace shop` */
export async function ofExisting<Answer>(object: string, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 404) throw error;
    throw new CliError(`there is no ${object}`);
  }
}
