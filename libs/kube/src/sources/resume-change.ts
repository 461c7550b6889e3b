import { RESUMED_ANNOTATION } from '@reroll/core/holds/hold';
import { METADATA_ONLY, type KubeClient } from '../client/connection.ts';
import type { KubeObject } from '../objects.ts';

export interface ResumedMetadata {
  /** The write must be refused (409) unless the object still has it: resumed is what was read. */
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * Reads a source, and returns the annotation that lets the waves of its current data go on after a failed rollout: the resourceVersion up
 * to which they may. Data that is written later begins with its first wave. `path`: of the source. Rejects with a `KubeError`.
 */
export async function resumedMetadata(
  client: Pick<KubeClient, 'get'>,
  { path, reason, timeoutMs }: { path: string; reason: string; timeoutMs?: number },
): Promise<ResumedMetadata> {
  const options = { accept: METADATA_ONLY, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const { resourceVersion } = (await client.get<KubeObject>(path, options)).body.metadata;
  return { resourceVersion, annotations: { [RESUMED_ANNOTATION]: `${resourceVersion}; ${reason}` } };
}
