import { RESUMED_ANNOTATION } from '@reroll/core/holds/hold';
import { METADATA_ONLY, type KubeClient } from '../client/connection.ts';
import { KubeError } from '../client/errors.ts';
import type { KubeObject } from '../objects.ts';

/** Tries, if somebody else writes the source at the same time. */
const TRIES = 5;

export interface ResumedMetadata {
  /** The write must be refused (409) unless the object still has it. */
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * Lets the waves of a source's present data go on after a failed rollout, by an annotation: the resourceVersion up to which they may.
 * Data that is written later begins with its first wave. `path`: of the source. Rejects with a `KubeError`; with status 409 if somebody
 * else wrote the source each time.
 */
export async function resumeChange(
  client: Pick<KubeClient, 'get'>,
  { path, reason }: { path: string; reason: string },
  write: (metadata: ResumedMetadata) => Promise<void>,
): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    const { body } = await client.get<KubeObject>(path, { accept: METADATA_ONLY });
    const { resourceVersion } = body.metadata;
    try {
      await write({
        resourceVersion,
        annotations: { [RESUMED_ANNOTATION]: `${resourceVersion}; ${reason}` },
      });
      return;
    } catch (error) {
      if (tried === TRIES || !(error instanceof KubeError) || error.status !== 409) throw error;
    }
  }
}
