import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { markerHash } from '@reroll/core/marker/marker-hash';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { hashKey, type HashKey } from '@reroll/core/record/record-hash';
import { auto, configMap, deployment, secret, usingEnvFrom } from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type KubeObject, type Ref, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, markerAnnotation, markerVariables } from '../support/objects/rollouts.ts';

const FIRST = 'the first key of the specs';
const SECOND = 'the second key of the specs';
const WEB = 'Deployment/web';
const CM: Ref = 'ConfigMap/cm';
const SECRET: Ref = 'Secret/db';

function keyOf(text: string): HashKey {
  return hashKey(Buffer.from(text));
}

function keyFile(keys: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-marker-'));
  cleanUp(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'keys'), keys.join('\n'));
  return join(folder, 'keys');
}

/** The marker's hash of a source that a container uses, whichever strategy wrote it. */
function marked(object: KubeObject, source: Ref): string | undefined {
  const variable = source === SECRET ? 'STAKATER_DB_SECRET' : 'STAKATER_CM_CONFIGMAP';
  return markerAnnotation(object)?.hash ?? markerVariables(object)['app']?.[variable];
}

interface Step {
  readonly hash: string;
  readonly keys: readonly string[];
  /** What a change writes then. */
  readonly marker: (value: string) => string;
}

function digest(algorithm: string, value: string): string {
  return createHash(algorithm).update(`v=${value}`).digest('hex');
}

function keyed(key: string, value: string): string {
  return markerHash('ConfigMap', { data: { v: value } }, { hash: 'hmac-sha256', keys: [keyOf(key)] });
}

/** Of a Secret: over its decoded data, as if it were in a ConfigMap. */
const AUTO_STEPS: readonly Step[] = [
  { hash: 'auto', keys: [], marker: (value) => digest('sha1', value) },
  { hash: 'auto', keys: [FIRST], marker: (value) => keyed(FIRST, value) },
  { hash: 'auto', keys: [SECOND, FIRST], marker: (value) => keyed(SECOND, value) },
];

const STEPS: readonly Step[] = [
  { hash: 'sha256', keys: [], marker: (value) => digest('sha256', value) },
  { hash: 'hmac-sha256', keys: [SECOND], marker: (value) => keyed(SECOND, value) },
  { hash: 'sha1', keys: [SECOND], marker: (value) => digest('sha1', value) },
];

/** Starts a worker with this marker's hash and these keys. */
function starting(space: Space, strategy: string) {
  return async (by: Pick<Step, 'hash' | 'keys'> & { stale?: string }, install?: string): Promise<Reroll> =>
    await startReroll({
      cluster: sharedCluster(),
      namespaces: [space],
      flags: by.keys.length === 0 ? [] : [`--hash-key-file=${keyFile(by.keys)}`],
      workerFlags: [
        `--reload-strategy=${strategy}`,
        `--hash=${by.hash}`,
        `--adopt-stale=${by.stale ?? 'report'}`,
      ],
      ...(install === undefined ? {} : { install }),
    });
}

/** A workload that uses this source, and how often it was rolled. */
async function used(source: Ref): Promise<{ space: Space; rollouts: RolloutCount }> {
  const space = await namespace(connect(sharedCluster()));
  await space.apply(
    source === CM ? configMap('cm', { v: '0' }) : secret('db', { v: '0' }),
    deployment('web', auto(), usingEnvFrom(source === CM ? 'cm' : source)),
  );
  return { space, rollouts: await RolloutCount.from(space, WEB) };
}

it.each([
  ['of a ConfigMap', 'env-vars', CM, STEPS],
  ['of a Secret, chosen by whether there is a key', 'annotations', SECRET, AUTO_STEPS],
])(
  'another hash, or another key, in the marker %s rolls nothing, and the next change writes it (%s)',
  async (_of, strategy, source, steps) => {
    const { space, rollouts } = await used(source);
    const start = starting(space, strategy);
    let install: string | undefined;
    for (const [index, step] of steps.entries()) {
      const keys = step.keys.map(keyOf);
      const { template } = (await space.get(WEB)).spec;
      const reroll = await start(step, install);
      ({ install } = reroll);
      await reroll.idle();
      const before = await inStep(space, WEB, [source], { keys });
      expect(before.spec.template).toEqual(template);
      expect(await rollouts.now()).toBe(index);
      const value = `${index + 1}`;
      await space.setData(source, { v: value });
      const after = await inStep(space, WEB, [source], { keys });
      expect(marked(after, source)).toBe(step.marker(value));
      await reroll.idle();
      expect(await rollouts.now()).toBe(index + 1);
      await reroll.stop();
    }
    // An install that knows nothing finds the source written after the workload: its marker, of another form or
    // under an older key, is what proves that its pods have the data.
    await space.annotate(WEB, { [RECORD_ANNOTATION]: null });
    const keys = ['a third key of the specs', SECOND];
    const fresh = await start({ hash: 'sha256', keys, stale: 'reload' });
    await inStep(space, WEB, [source], { keys: keys.map(keyOf) });
    await fresh.idle();
    expect(await rollouts.now()).toBe(steps.length);
  },
);
