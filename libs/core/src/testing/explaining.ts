import type { WorkloadKind } from '../model.ts';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import type { ExplainInput, ExplainSettings } from '../explain/facts.ts';
import { NO_TRIGGERS } from '../state/settings.ts';
import type { SourceRow, WorkloadRow } from '../state/rows.ts';
import { sourceRow, workloadRow } from './rows.ts';

export const EXPLAIN_SETTINGS: ExplainSettings = {
  decision: { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] },
  triggers: NO_TRIGGERS,
  adoptStale: 'report',
  dryRun: false,
  notifyOnly: false,
};

/**
 * Returns `Deployment/ns/web`, written at 10, which uses `ConfigMap/cm`, written at 5, with `auto`: adopted, without a record,
 * nothing pending.
 */
export function explainInput(
  changed: {
    readonly workload?: Partial<WorkloadRow>;
    readonly source?: Partial<SourceRow> | null;
    readonly settings?: Partial<ExplainSettings>;
    readonly kind?: WorkloadKind;
  } = {},
): ExplainInput {
  const { workload = {}, source = {}, settings = {}, kind = 'Deployment' } = changed;
  const dates = { rv: '10', templateRv: '10', baselines: { 'ConfigMap/cm': '10' } };
  return {
    workload: { key: `${kind}/ns/web`, row: workloadRow({ ...dates, ...workload }) },
    source: { key: 'ConfigMap/ns/cm', row: source === null ? undefined : sourceRow(5, 'a', source) },
    settings: { ...EXPLAIN_SETTINGS, ...settings },
    from: 'catalog',
  };
}
