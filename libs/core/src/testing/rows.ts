import {
  NO_ANNOTATIONS,
  NO_BASELINES,
  NO_NAMES,
  type ObservedSource,
  type ObservedWorkload,
  type SourceRow,
  type WorkloadRow,
} from '../state/rows.ts';
import { writeRecord } from '../record/record.ts';

/** Builders of sightings for the cluster state's specs. Everything is in the namespace `ns`. */
export const AUTO = { 'reloader.stakater.com/auto': 'true' };

export function seenSource(
  name: string,
  rv: number,
  hash: string,
  more: Partial<ObservedSource> = {},
): ObservedSource {
  return {
    key: `ConfigMap/ns/${name}`,
    rv: String(rv),
    hash: `1.${hash}`,
    modifiedAt: 0,
    annotations: NO_ANNOTATIONS,
    ...more,
  };
}

export function seenWorkload(
  name: string,
  rv: number,
  more: Partial<ObservedWorkload> = {},
): ObservedWorkload {
  return {
    key: `Deployment/ns/${name}`,
    kind: 'Deployment',
    namespace: 'ns',
    uid: `uid-${name}`,
    generation: generationOf(more),
    rv: String(rv),
    createdAt: 0,
    template: 't1',
    hasContainers: true,
    uses: ['ConfigMap/cm'],
    mentions: NO_NAMES,
    marks: NO_NAMES,
    annotations: AUTO,
    podAnnotations: NO_ANNOTATIONS,
    record: undefined,
    resumeAt: undefined,
    ...more,
  };
}

/** Each write of a template is one of another generation: `t2` is that of generation 2. */
function generationOf({ template = 't1' }: { template?: string }): number {
  return Number(/\d+$/u.exec(template)?.[0] ?? 1);
}

export function recordOf(hashes: Readonly<Record<string, string>>): string {
  return writeRecord(
    Object.fromEntries(Object.entries(hashes).map(([name, hash]) => [`ConfigMap/${name}`, `1.${hash}`])),
  );
}

export function sourceRow(rv: number, hash: string, more: Partial<SourceRow> = {}): SourceRow {
  return {
    hash: `1.${hash}`,
    rv: String(rv),
    dataRv: String(rv),
    exists: true,
    modifiedAt: 0,
    annotations: NO_ANNOTATIONS,
    ...more,
  };
}

export function workloadRow(more: Partial<WorkloadRow> = {}): WorkloadRow {
  const { key: _key, kind: _kind, namespace: _namespace, ...seen } = seenWorkload('w', 1);
  return {
    ...seen,
    templateRv: '0',
    dependencies: ['ConfigMap/cm'],
    unverified: NO_NAMES,
    baselines: NO_BASELINES,
    stale: NO_NAMES,
    ...more,
  };
}
