import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { markerHash } from '../libs/shared/src/core/marker/marker-hash.ts';
import { RECORD_ANNOTATION } from '../libs/shared/src/core/record/record.ts';
import { hashKey, type HashKey } from '../libs/shared/src/core/record/record-hash.ts';
import { auto, configMap, deployment, usingEnvFrom } from './support/builders.ts';
import { cleanUp } from './support/cleanup.ts';
import { sharedCluster } from './support/cluster.ts';
import { connect, namespace, type KubeObject } from './support/kube.ts';
import { startReroll, type Reroll } from './support/reroll.ts';
import { RolloutCount, inStep, markerAnnotation, markerVariables } from './support/rollouts.ts';

const FIRST = 'the first key of the specs';
const SECOND = 'the second key of the specs';
const WEB = 'Deployment/web';
const CM = ['ConfigMap/cm'];

function keyOf(text: string): HashKey {
  return hashKey(Buffer.from(text));
}

function keyFile(keys: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-marker-'));
  cleanUp(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'keys'), keys.join('\n'));
  return join(folder, 'keys');
}

/** The marker's hash, whichever strategy wrote it. */
function marked(object: KubeObject): string | undefined {
  return markerAnnotation(object)?.hash ?? markerVariables(object)['app']?.['STAKATER_CM_CONFIGMAP'];
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

const STEPS: readonly Step[] = [
  { hash: 'sha1', keys: [], marker: (value) => digest('sha1', value) },
  { hash: 'sha256', keys: [], marker: (value) => digest('sha256', value) },
  { hash: 'hmac-sha256', keys: [FIRST], marker: (value) => keyed(FIRST, value) },
  { hash: 'hmac-sha256', keys: [SECOND, FIRST], marker: (value) => keyed(SECOND, value) },
];

describe.each(['env-vars', 'annotations'])('with the strategy %s', (strategy) => {
  it('another hash, or another key, in the marker rolls nothing, and the next change writes it', async () => {
    const space = await namespace(connect(sharedCluster()));
    await space.apply(configMap('cm', { v: '0' }), deployment('web', auto(), usingEnvFrom('cm')));
    const rollouts = await RolloutCount.from(space, WEB);
    const start = async (
      by: Pick<Step, 'hash' | 'keys'> & { stale?: string },
      install?: string,
    ): Promise<Reroll> => {
      const file = by.keys.length === 0 ? [] : [`--hash-key-file=${keyFile(by.keys)}`];
      return await startReroll({
        cluster: sharedCluster(),
        namespaces: [space],
        flags: file,
        workerFlags: [
          `--reload-strategy=${strategy}`,
          `--hash=${by.hash}`,
          `--adopt-stale=${by.stale ?? 'report'}`,
        ],
        ...(install === undefined ? {} : { install }),
      });
    };
    let install: string | undefined;
    for (const [index, step] of STEPS.entries()) {
      const keys = step.keys.map(keyOf);
      const reroll = await start(step, install);
      ({ install } = reroll);
      await inStep(space, WEB, CM, { keys });
      await reroll.idle();
      expect(await rollouts.now()).toBe(index);
      const value = `${index + 1}`;
      await space.setData('ConfigMap/cm', { v: value });
      const after = await inStep(space, WEB, CM, { keys });
      expect(marked(after)).toBe(step.marker(value));
      await reroll.idle();
      expect(await rollouts.now()).toBe(index + 1);
      await reroll.stop();
    }
    // An install that knows nothing finds the source written after the workload: its marker, of another form and
    // under an older key, is what proves that its pods have the data.
    await space.annotate(WEB, { [RECORD_ANNOTATION]: null });
    const keys = ['a third key of the specs', SECOND];
    const fresh = await start({ hash: 'sha1', keys, stale: 'reload' });
    await inStep(space, WEB, CM, { keys: keys.map(keyOf) });
    await fresh.idle();
    expect(await rollouts.now()).toBe(STEPS.length);
  });
});
