import { KubeError } from '@reroll/kube/client/errors';
import { objectPath } from '@reroll/kube/objects';
import { sourceKind } from '@reroll/kube/sources/registry';
import { resumedMetadata } from '@reroll/kube/sources/resume-change';
import { sourceRef } from '../args/object-ref.ts';
import { annotate, ofExisting } from '../direct/annotate.ts';
import { CliError } from '../errors.ts';
import { safeText } from '../output/safe-text.ts';
import type { Session } from '../session.ts';
import { fullName, placedName } from '../views/names.ts';

/** Lets the waves of a source's current data go on after a failed rollout, with the rights of the user. */
export async function resumeChange(
  session: Session,
  words: readonly string[],
  reason: string,
): Promise<void> {
  const source = sourceRef(words, session.namespaceOfObject);
  const definition = sourceKind(source.kind);
  if (!definition) throw new RangeError(`no source kind ${source.kind}`);
  const path = objectPath(definition, source);
  try {
    const metadata = resumedMetadata(session.cluster.client, { path, reason });
    await annotate(session, path, await ofExisting(placedName(source), metadata));
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 409) throw error;
    throw new CliError(`${fullName(source)} was written by somebody else meanwhile; nothing is resumed`, {
      hints: ['look at the change again before you resume it'],
    });
  }
  // Whether it is halted, only the admin knows, and this works without one.
  session.io.out(
    `${safeText(fullName(source))}: failed rollouts no longer halt the change to its current data\n`,
  );
}
