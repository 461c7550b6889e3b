import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { run } from '../cluster/src/run.ts';
import { ensureHelm } from './ensure-helm.ts';
import { renderByHelm, type RenderRequest } from './helm-renderer.ts';
import { merged } from './testing/merged.ts';
import { VALUES_MATRIX } from './testing/values-matrix.ts';
import { CHART } from './values/values-comments.ts';

/** Secrets that hold what would be made up anew in each render. */
const GIVEN = {
  redis: { auth: { existingSecret: 'a' } },
  reloader: { hashKey: { existingSecret: 'b' } },
  admin: { tls: { existingSecret: 'c' } },
};
const REQUEST: RenderRequest = { chart: CHART, release: 'r', namespace: 'n', values: GIVEN, apis: [] };

const CASES: readonly (readonly [string, Partial<RenderRequest>])[] = [
  ['the default', {}],
  [
    'another API',
    { apis: ['security.openshift.io/v1', 'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy'] },
  ],
  ['a release that is a number', { release: '123' }],
  ['a value that is unknown', { values: { reloder: {} } }],
  // One only: of several, helm tells in any order.
  ['a value of another type', { values: { worker: { replicas: 'two' } } }],
  ['what the chart refuses', { values: { reloader: { namespaces: ['a'] } } }],
  [
    'numbers, text and null',
    { values: { ...GIVEN, watcher: { extraEnv: [{ name: 'A', value: '1e3' }] }, worker: null } },
  ],
  ['many values', { values: merged(GIVEN, VALUES_MATRIX['network policies, metrics and monitors'] ?? {}) }],
];

/** The text of `helm template`, or what it writes to stderr. */
async function template({ chart, release, namespace, values, apis }: RenderRequest): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-values-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'values.json');
  writeFileSync(file, JSON.stringify(values));
  const flags = apis.flatMap((api) => ['--api-versions', api]);
  const args = ['template', release, chart, '--namespace', namespace, '--values', file, ...flags];
  const { code, stdout, tail } = await run(await ensureHelm({ log: console.log }), args);
  return code === 0 ? `${stdout}\n` : tail;
}

it.each(CASES)('answers as `helm template` does: %s', async (_what, differences) => {
  const asked = { ...REQUEST, ...differences };
  const { text, error = text } = await renderByHelm(asked);
  expect(error).toBe(await template(asked));
});
