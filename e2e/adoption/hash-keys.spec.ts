import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { markerHash } from '@reroll/core/marker/marker-hash';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { hashKey, sourceKeys, type HashKey } from '@reroll/core/record/record-hash';
import { auto, configMap, deployment, secret, usingEnvFrom } from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Ref, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { countRollouts, inStep, markerVariables, recordOf } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const FIRST = 'the first key of the specs';
const SECOND = 'the second key of the specs';
const USES: Readonly<Record<Ref, Ref>> = { 'Deployment/web': 'ConfigMap/cm', 'Deployment/db': 'Secret/db' };

let space: Space;
let file: string;
/** Of `USES`, in order. */
let rollouts: () => Promise<number[]>;
let install: string | undefined;

beforeAll(async () => {
  space = await namespace(connect(sharedCluster()));
  const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-keys-'));
  cleanUp(() => rmSync(folder, { recursive: true }));
  file = join(folder, 'keys');
  // The sources are newer than the workloads: without a record or a marker they are stale.
  await space.apply(
    deployment('web', auto(), usingEnvFrom('cm')),
    deployment('db', auto(), usingEnvFrom('Secret/db')),
    configMap('cm', { v: '0' }),
    secret('db', { v: '0' }),
  );
  rollouts = await countRollouts(space, Object.keys(USES));
});

/** Starts, or starts again, with these keys, or with none. */
async function start(texts: readonly string[], ...workerFlags: readonly string[]): Promise<Reroll> {
  writeFileSync(file, texts.join('\n'));
  const flags = texts.length === 0 ? [] : [`--hash-key-file=${file}`];
  const options = { cluster: sharedCluster(), namespaces: [space], flags, workerFlags };
  const reroll = await startReroll({ ...options, ...(install === undefined ? {} : { install }) });
  ({ install } = reroll);
  return reroll;
}

function keysOf(texts: readonly string[]): HashKey[] {
  return texts.map((text) => hashKey(Buffer.from(text)));
}

function keyed(text: string, v: string): string {
  const keys = sourceKeys(keyIn(space, 'Secret/db'), keysOf([text]));
  return markerHash('ConfigMap', { data: { v } }, { hash: 'hmac-sha256', keys });
}

function digest(algorithm: string, v: string): string {
  return createHash(algorithm).update(`v=${v}`).digest('hex');
}

/** Resolves when each is recorded with the current data, under the first of these keys. */
async function recorded(reroll: Reroll, texts: readonly string[]): Promise<void> {
  const keys = keysOf(texts);
  const scheme = keys[0] ? `k${keys[0].id}` : '1';
  for (const [ref, source] of Object.entries(USES)) {
    const now = await inStep(space, ref, [source], { keys });
    expect(recordOf(now)[source]).toMatch(new RegExp(`^${scheme}\\.`, 'u'));
  }
  await reroll.idle();
}

/** What the markers have. */
async function marked(): Promise<(string | undefined)[]> {
  const objects = await Promise.all(Object.keys(USES).map((ref) => space.get(ref)));
  return objects.flatMap((object) => Object.values(markerVariables(object)['app'] ?? {}));
}

async function changeBoth(v: string): Promise<void> {
  for (const source of Object.values(USES)) await space.setData(source, { v });
}

it('a key, and then another while the old one is kept, reload nothing, rewrite every record, and the next change marks with them', async () => {
  const plain = await start([]);
  await recorded(plain, []);
  await changeBoth('1');
  await recorded(plain, []);
  expect(await marked()).toEqual([digest('sha1', '1'), digest('sha1', '1')]);
  await plain.stop();

  const first = await start([FIRST]);
  await recorded(first, [FIRST]);
  expect(await rollouts()).toEqual([1, 1]);
  const reasons = (await first.outcomes(space, 'Deployment/web')).map(({ reason }) => reason);
  expect(reasons).toContain('RecordRewritten');
  await changeBoth('2');
  await recorded(first, [FIRST]);
  expect(await marked()).toEqual([digest('sha1', '2'), keyed(FIRST, '2')]);
  await first.stop();

  const second = await start([SECOND, FIRST]);
  await recorded(second, [SECOND]);
  expect(await rollouts()).toEqual([2, 2]);
  await changeBoth('3');
  await recorded(second, [SECOND]);
  expect(await marked()).toEqual([digest('sha1', '3'), keyed(SECOND, '3')]);
  await second.stop();

  // What is under a key that a worker does not have is left to one that has it, and is no change.
  install = undefined;
  const without = await start([FIRST]);
  await eventually(async () =>
    /reroll_outcomes_total\{reason="KeyUnknown"\} [1-9]/u.test((await without.workers[0]?.metrics()) ?? ''),
  );
  await without.stop();
  const scheme = `k${keysOf([SECOND])[0]?.id}.`;
  expect(recordOf(await space.get('Deployment/web'))['ConfigMap/cm']?.startsWith(scheme)).toBe(true);
  expect(await rollouts()).toEqual([3, 3]);
});

it('a fresh install finds the data in a marker under an older key; a change while the key is changed is reloaded, with another hash too', async () => {
  // It does not wait for the end of the delay above, and knows no more than is on the workloads.
  install = undefined;
  await space.annotate('Deployment/db', { [RECORD_ANNOTATION]: null });
  await space.setData('ConfigMap/cm', { v: '4' });
  const fresh = await start([FIRST, SECOND], '--hash=sha256', '--adopt-stale=reload');
  await recorded(fresh, [FIRST]);
  expect(await rollouts()).toEqual([4, 3]);
  await space.setData('Secret/db', { v: '5' });
  await recorded(fresh, [FIRST]);
  expect(await marked()).toEqual([digest('sha256', '4'), digest('sha256', '5')]);
  expect(await rollouts()).toEqual([4, 4]);
});
