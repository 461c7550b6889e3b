import { RESUMED_ANNOTATION } from '@reroll/core/holds/hold';
import { METADATA_ONLY } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { objectPath, type KubeObject } from '@reroll/kube/objects';
import { sourceKind } from '@reroll/kube/sources/registry';
import { sourceRef } from '../args/object-ref.ts';
import { annotate } from '../direct/annotate.ts';
import { CliError } from '../errors.ts';
import { safeText } from '../output/safe-text.ts';
import type { Session } from '../session.ts';
import { fullName } from '../views/names.ts';

/** Tries, if somebody else writes the source at the same time. */
const TRIES = 5;

/**
 * Lets the waves of a source's present data go on after a failed rollout, by an annotation that is written with the rights of the user:
 * the resourceVersion up to which they may. Data that is written later begins with its first wave.
 */
export async function resumeChange(
  session: Session,
  words: readonly string[],
  reason: string,
): Promise<void> {
  const source = sourceRef(words, session.namespace);
  const definition = sourceKind(source.kind);
  if (!definition) throw new RangeError(`no source kind ${source.kind}`);
  const path = objectPath(definition, source);
  for (let tried = 0; tried < TRIES; tried += 1) {
    const { body } = await session.cluster.client.get<KubeObject>(path, { accept: METADATA_ONLY });
    const { resourceVersion } = body.metadata;
    const annotations = { [RESUMED_ANNOTATION]: `${resourceVersion}; ${reason}` };
    try {
      // Refused if the source was written in between.
      await annotate(session, path, { resourceVersion, annotations });
      session.io.out(`${safeText(fullName(source))} resumed\n`);
      return;
    } catch (error) {
      if (!(error instanceof KubeError) || error.status !== 409) throw error;
    }
  }
  throw new CliError(
    `${fullName(source)} was written by somebody else ${TRIES} times in a row; nothing is resumed`,
  );
}
