import { createHash } from 'node:crypto';
import { envVarName } from '@reroll/core/marker/env-var-name';
import { markerPlaces } from '@reroll/core/marker/marker-places';
import { writeRecord } from '@reroll/core/record/record';
import type { SourceRow, WorkloadRow } from '@reroll/core/state/rows';

/** As the hash of a source's data is written. */
export function hashOf(text: string): string {
  return `1.${createHash('sha256').update(text).digest('base64url')}`;
}

export function sourceRow(index: number): SourceRow {
  const rv = String(1_000_000 + index);
  return {
    hash: hashOf(`${index}`),
    rv,
    dataRv: rv,
    exists: true,
    modifiedAt: 1_760_000_000,
    annotations: {},
  };
}

/** A workload that uses these ConfigMaps and was reloaded for the first; `recorded` has the hash of each in its applied record. */
export function workloadRow(index: number, recorded: Readonly<Record<string, string>>): WorkloadRow {
  const names = Object.keys(recorded);
  const rv = String(2_000_000 + index);
  const marks = names.slice(0, 1).map((name) => envVarName('ConfigMap', nameOf(name)));
  const env = marks.map((name) => ({ name, value: hashOf(name).slice(0, 40) }));
  const envFrom = names.map((name) => ({ configMapRef: { name: nameOf(name) } }));
  const template = { spec: { containers: [{ name: 'app', env, envFrom }] } };
  return {
    uid: createHash('md5').update(`${index}`).digest('hex'),
    generation: 12_000,
    rv,
    createdAt: 1_750_000_000,
    template: hashOf(`template ${index}`),
    hasContainers: true,
    uses: names,
    mentions: [],
    marks,
    places: markerPlaces(template, { uses: names, marks }, []),
    annotations: { 'reloader.stakater.com/auto': 'true' },
    podAnnotations: {},
    record: writeRecord(recorded),
    resumeAt: undefined,
    templateRv: rv,
    dependencies: names,
    unverified: [],
    baselines: {},
    stale: [],
  };
}

function nameOf(source: string): string {
  return source.slice(source.indexOf('/') + 1);
}
