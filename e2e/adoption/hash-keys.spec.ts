import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { hashKey, type HashKey } from '@reroll/core/record/record-hash';
import {
  auto,
  configMap,
  deployment,
  secret,
  statefulSet,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Ref, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, recordOf, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const FIRST = 'the first key of the specs';
const SECOND = 'the second key of the specs';

const USES: Readonly<Record<Ref, readonly Ref[]>> = {
  // Rolled once before: its template is newer than its sources.
  'Deployment/rolled': ['ConfigMap/changed'],
  // Only ever adopted: its sources may be newer than its template.
  'Deployment/adopted': ['ConfigMap/kept', 'Secret/kept'],
  'StatefulSet/adopted': ['Secret/kept'],
};

let space: Space;
let folder: string;
/** Of the present test. */
let install: string | undefined;

beforeEach(() => {
  install = undefined;
});

beforeAll(async () => {
  space = await namespace(connect(sharedCluster()));
  folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-keys-'));
  cleanUp(() => rmSync(folder, { recursive: true }));
  await space.apply(
    deployment('adopted', auto(), usingEnvFrom('kept'), usingVolume('Secret/kept')),
    statefulSet('adopted', auto(), usingEnvFrom('Secret/kept')),
    deployment('rolled', auto(), usingEnvFrom('changed')),
    configMap('kept', { v: '1' }),
    secret('kept', { v: '1' }),
    configMap('changed', { v: '1' }),
  );
});

/** Starts, or starts again, with these keys, or with none. */
async function start(keys: readonly string[]): Promise<Reroll> {
  const file = join(folder, 'keys');
  writeFileSync(file, `${keys.join('\n')}\n`);
  const reroll = await startReroll({
    cluster: sharedCluster(),
    namespaces: [space],
    flags: keys.length === 0 ? [] : [`--hash-key-file=${file}`],
    ...(install === undefined ? {} : { install }),
  });
  install ??= reroll.install;
  return reroll;
}

function keyOfText(text: string): HashKey {
  return hashKey(Buffer.from(text));
}

async function allInStep(keys: readonly HashKey[]): Promise<void> {
  for (const [ref, sources] of Object.entries(USES)) await inStep(space, ref, sources, { keys });
}

async function schemes(): Promise<string[]> {
  const found = new Set<string>();
  for (const ref of Object.keys(USES)) {
    for (const hash of Object.values(recordOf(await space.get(ref)))) found.add(hash.split('.')[0] ?? '');
  }
  return [...found];
}

async function rolloutsOfAll(): Promise<() => Promise<number[]>> {
  const counts = await Promise.all(Object.keys(USES).map((ref) => RolloutCount.from(space, ref)));
  return async () => await Promise.all(counts.map((count) => count.now()));
}

it('giving a key, and then another while the old one is kept, rolls nothing and rewrites every record', async () => {
  const plain = await start([]);
  await allInStep([]);
  await space.setData('ConfigMap/changed', { v: '2' });
  await allInStep([]);
  await settled(plain, space);
  expect(await schemes()).toEqual(['1']);
  await plain.stop();
  const rollouts = await rolloutsOfAll();

  const [first, second] = [keyOfText(FIRST), keyOfText(SECOND)];
  const keyed = await start([FIRST]);
  await allInStep([first]);
  expect(await schemes()).toEqual([`k${first.id}`]);
  await settledWith(keyed, first);
  expect(await rollouts()).toEqual([0, 0, 0]);
  const reasons = (await keyed.outcomes(space, 'Deployment/adopted')).map(({ reason }) => reason);
  expect(reasons).toContain('RecordRewritten');
  await keyed.stop();

  const rotated = await start([SECOND, FIRST]);
  await allInStep([second]);
  expect(await schemes()).toEqual([`k${second.id}`]);
  await settledWith(rotated, second);
  expect(await rollouts()).toEqual([0, 0, 0]);

  await space.setData('Secret/kept', { v: '2' });
  await allInStep([second]);
  expect(await rollouts()).toEqual([0, 1, 1]);
});

it('what is recorded under a key that a worker does not have is left to one that has it, and is no change', async () => {
  const rollouts = await rolloutsOfAll();
  const without = await start([FIRST]);
  await eventually(async () => {
    const [worker] = without.workers;
    expect(await worker?.metrics()).toMatch(/reroll_outcomes_total\{reason="KeyUnknown"\} [1-9]/);
    return true;
  });
  await without.stop();
  expect(await schemes()).toContain(`k${keyOfText(SECOND).id}`);

  // Another install, which does not wait for the end of the delay.
  install = undefined;
  const both = await start([FIRST, SECOND]);
  await allInStep([keyOfText(FIRST)]);
  await both.stop();
  expect(await rollouts()).toEqual([0, 0, 0]);
});

it('a change that comes while the key is being changed is rolled', async () => {
  const before = await start([FIRST]);
  await allInStep([keyOfText(FIRST)]);
  await before.idle();
  await before.stop();
  const rollouts = await rolloutsOfAll();
  await space.setData('ConfigMap/kept', { v: 'in between' });
  const after = await start([SECOND, FIRST]);
  await allInStep([keyOfText(SECOND)]);
  await after.idle();
  expect(await rollouts()).toEqual([0, 1, 0]);
});

/** `settled`, for records under a key. */
async function settledWith(reroll: Reroll, key: HashKey): Promise<void> {
  await eventually(async () => {
    await allInStep([key]);
    return true;
  });
  await reroll.idle();
}
