import type { SourceRow, WorkloadRow } from '@reroll/core/state/rows';

/** Returns a ConfigMap's or Secret's row: version 10, hash `1.A`, with the given changes. */
export function sourceRow(changed: Partial<SourceRow> = {}): SourceRow {
  return {
    hash: '1.A',
    rv: '10',
    dataRv: '10',
    exists: true,
    modifiedAt: 1_700_000_000,
    annotations: {},
    ...changed,
  };
}

/** Returns a workload's row: generation 1, version 11, no sources, with the given changes. */
export function workloadRow(changed: Partial<WorkloadRow> = {}): WorkloadRow {
  return {
    uid: '6f1c',
    generation: 1,
    rv: '11',
    createdAt: 1_700_000_000,
    template: 'Zm9vYmFyYmF6cXV4',
    templateRv: '11',
    hasContainers: true,
    uses: [],
    mentions: [],
    marks: [],
    dependencies: [],
    unverified: [],
    stale: [],
    baselines: {},
    annotations: {},
    podAnnotations: {},
    record: undefined,
    resumeAt: undefined,
    ...changed,
  };
}
