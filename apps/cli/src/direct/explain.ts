import { explanationAnswer } from '@reroll/shared/api/explained';
import type { Explanation } from '@reroll/shared/api/explain';
import { explain } from '@reroll/core/explain/explain';
import type { ExplainedWorkload } from '@reroll/core/explain/facts';
import { keyOf } from '@reroll/core/model';
import { ExplainGatherer } from '@reroll/kube/gather-explain';
import type { SourceRef, WorkloadRef } from '../args/object-ref.ts';
import { CliError } from '../errors.ts';
import type { Session } from '../session.ts';
import { placedName } from '../views/names.ts';
import { namespaceHolds } from './namespace-holds.ts';
import { settingsFor, unwatchedOf } from './scope.ts';
import type { FoundSettings } from './settings.ts';

export interface DirectQuestion {
  readonly workload: WorkloadRef;
  readonly source: SourceRef;
  /** Flags of Reroll. */
  readonly flags: readonly string[];
}

/** Explains as the admin does, from what the caller may read. */
export async function explanationOfCluster(
  session: Session,
  { workload, source, flags }: DirectQuestion,
): Promise<{ readonly explanation: Explanation; readonly settings: string }> {
  const found = await settingsFor(session, flags, workload);
  const gather = gatherer(session, found);
  const read = await existing(gather, workload);
  const asked = await gather.source(keyOf(source));
  const input = {
    workload: read,
    source: asked,
    unwatched: unwatchedOf(found, [asked]),
    settings: found.settings,
    from: 'cluster',
    now: session.io.now(),
    namespaces: await namespaceHolds(session, found, workload.namespace),
  } as const;
  return { explanation: explanationAnswer(explain(input), 'cluster', (hash) => hash), settings: found.from };
}

export function gatherer(session: Session, { settings }: FoundSettings): ExplainGatherer {
  return new ExplainGatherer(session.cluster.client, settings.decision, session.io.signal);
}

/** @throws a `CliError` if there is no such workload */
export async function existing(gather: ExplainGatherer, workload: WorkloadRef): Promise<ExplainedWorkload> {
  const read = await gather.workload(keyOf(workload));
  if (read !== null) return read;
  throw new CliError(`there is no ${placedName(workload)}`);
}
