import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { WAVE_HASH } from '@reroll/core/adopted/wave-marker';
import { recordedHashes, RECORD_ANNOTATION } from '@reroll/core/record/record';
import { expect, it } from 'vitest';
import { jobErrorOf } from '../job-error.ts';
import { refusal } from '../testing/fake-api.ts';
import { all, hashOf, Scene, unrecorded, type Change } from '../testing/scene.ts';

const NAMES = Array.from({ length: 40 }, (_, index) => `cm-${index}`);
const SOURCES = NAMES.map((name) => `ConfigMap/${name}`);

/** Uses 40 ConfigMaps and has no record. */
const many = all(unrecorded, (scene) => {
  const envFrom = NAMES.map((name) => ({ configMapRef: { name } }));
  const metadata = { annotations: scene.templateAnnotations };
  scene.spec = { template: { metadata, spec: { containers: [{ name: 'app', envFrom }] } } };
  scene.row = { templateRv: '25', baselines: Object.fromEntries(SOURCES.map((source) => [source, '0'])) };
});

/** Of which nothing tells what its pods run, but Wave's hash of the data of these. */
const fromWave = (names: readonly string[]): Change =>
  all(
    (scene) => {
      const configMaps = Object.fromEntries(names.toSorted().map((name) => [name, { key: 'bmV3' }]));
      const document = JSON.stringify({ configMaps, secrets: {} });
      scene.keys = { adopt: ['wave'] };
      scene.templateAnnotations = { [WAVE_HASH]: createHash('sha256').update(document).digest('hex') };
    },
    many,
    (scene) => void (scene.row = { ...scene.row, stale: SOURCES }),
  );

/** Runs one job whose reads of ConfigMaps take a turn each. Each answer is an object of its own; undefined: an error. */
async function reads(
  change: Change,
  labelsOf: (name: string) => Record<string, string> | undefined = () => ({}),
) {
  const scene = new Scene(change);
  const names: string[] = [];
  const given: WeakRef<object>[] = [];
  let most = 0;
  let underWay = 0;
  const { get } = scene.api.client;
  // A spy would hold what it returns.
  const slowly = async (path: string): Promise<unknown> => {
    if (!path.includes('/configmaps/')) return await get(path);
    const name = path.slice(path.lastIndexOf('/') + 1);
    names.push(name);
    underWay += 1;
    most = Math.max(most, underWay);
    await nextTurn();
    underWay -= 1;
    const labels = labelsOf(name);
    if (!labels) throw refusal(500);
    const data = { key: 'new' };
    given.push(new WeakRef(data));
    const metadata = { name, namespace: 'ns', uid: 'u', resourceVersion: '20', labels };
    return { body: { metadata, data } };
  };
  Object.assign(scene.api.client, { get: slowly });
  let held = Number.NaN;
  scene.api.before = (method) => {
    if (method !== 'PATCH') return;
    collectGarbage();
    held = given.filter((data) => data.deref() !== undefined).length;
  };
  const { reason } = await scene.run().catch(jobErrorOf);
  const recorded = recordedHashes(scene.object.metadata.annotations?.[RECORD_ANNOTATION]);
  return { reason, recorded, names, most, held };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-expose-gc');
}

it('reads each source of a workload once, at most eight at a time', async () => {
  const { reason, recorded, names, most } = await reads(many);
  expect([reason, names.toSorted(), most]).toEqual(['Adopted', NAMES.toSorted(), 8]);
  expect(recorded).toEqual(Object.fromEntries(SOURCES.map((source) => [source, hashOf('new')])));
});

it("reads what Wave's hash covers once, one at a time", async () => {
  const { reason, names, most } = await reads(fromWave(NAMES));
  expect([reason, names, most]).toEqual(['Adopted', NAMES.toSorted(), 1]);
});

it("takes Wave's hash for no proof if one of its sources is not watched", async () => {
  const [hidden, ...others] = NAMES;
  const change = all(fromWave(others), (scene) => {
    scene.labels = [{ key: 'watched', operator: 'exists', values: [] }];
  });
  const { reason } = await reads(change, (name) => (name === hidden ? {} : { watched: 'yes' }));
  expect(reason).toBe('StaleAtAdoption');
});

it.each([
  ['', many],
  [', also if Wave had hashed them', fromWave(NAMES)],
  [
    ', also if their markers may prove something',
    all(many, (scene) => void (scene.row = { ...scene.row, stale: SOURCES })),
  ],
])('has no data of a source any more when the workload is patched%s', async (_, change) => {
  // The last one to be read may still be on the stack.
  expect((await reads(change)).held).toBeLessThanOrEqual(1);
});

it('begins no other read after one that failed', async () => {
  const { reason, names } = await reads(many, (name) => (name === 'cm-0' ? undefined : {}));
  expect(reason).toBe('ApiUnavailable');
  await nextTurn();
  await nextTurn();
  expect(names.length).toBeLessThan(16);
});
