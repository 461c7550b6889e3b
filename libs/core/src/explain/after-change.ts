import { writtenSource } from '../state/sources/observe-source.ts';
import { dependencyBegun } from '../state/workloads/observe-workload.ts';
import { NO_ANNOTATIONS, sourceNameOf, type ObservedSource } from '../state/rows.ts';
import type { DependencyVerdict } from '../reload/plan.ts';
import { RV_UNKNOWN, maxRv, type Rv } from '../rv.ts';
import { verdictFor } from './pending.ts';
import { kindOf } from '../model.ts';
import type { ExplainInput } from './facts.ts';

/** No data has this hash. */
const OTHER_DATA = 'other-data';

/**
 * Returns the plan's verdict for a dependency if other data were written to its source now, after everything known of the two. A
 * source that does not exist would be created.
 */
export function verdictAfterChange(question: Omit<ExplainInput, 'from'>): DependencyVerdict {
  const { workload, source, settings } = question;
  const name = sourceNameOf(source.key);
  const { row: before } = workload;
  const dates = [before.rv, before.templateRv, before.baselines[name], source.row?.rv, source.row?.dataRv];
  const known = dates.reduce<Rv>((latest, rv) => maxRv(latest, rv ?? RV_UNKNOWN), RV_UNKNOWN);
  // A dependency that no watcher has seen yet begins before this write.
  const row = { ...before, baselines: dependencyBegun(before, name, known) };
  const { providerClass, annotations = NO_ANNOTATIONS } = source.row ?? {};
  const seen: ObservedSource = {
    key: source.key,
    rv: after(known),
    hash: OTHER_DATA,
    modifiedAt: 0,
    annotations,
    providerClass,
  };
  const onCreate = settings.triggers.onCreate && kindOf(source.key) !== 'SecretProviderClass';
  const written = writtenSource(seen, source.row, { listRv: RV_UNKNOWN, onCreate });
  const reading = { rv: written.rv, hash: written.hash, isRecorded: false, afterWorkload: true };
  return verdictFor({ ...question, workload: { ...workload, row } }, written, reading);
}

function after(rv: Rv): Rv {
  return String(BigInt(rv) + 1n);
}
