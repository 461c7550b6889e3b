import { beforeAll, beforeEach, expect, it } from 'vitest';
import type { OutcomeEntry } from '@reroll/core/history/entries';
import { MOST_ANNOTATION_BYTES, annotationBytes } from '@reroll/core/reload/annotation-room';
import type { Reason } from '@reroll/core/reasons';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { KubeError } from '@reroll/kube/client/errors';
import { collectionPath } from '@reroll/kube/objects';
import { AuditLog } from '../support/audit.ts';
import {
  annotated,
  auto,
  configMap,
  cronJob,
  deployment,
  job,
  podAnnotated,
  statefulSet,
  usingEnvFrom,
  type Modifier,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, resourceOf, type Manifest, type Ref, type Space } from '../support/kube.ts';
import { pendingJobs } from '../support/objects/recreation.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const NOTES = 'example.com/notes';
const CM = ['ConfigMap/cm'];

let space: Space;
let reroll: Reroll;
const spaces: Space[] = [];

/** One install for all; the next resync does not come within a test: what is done follows from events. */
beforeAll(async () => {
  const cluster = sharedCluster();
  for (let test = 0; test < 7; test += 1) spaces.push(await namespace(connect(cluster)));
  const flags = ['--reload-strategy=annotations'];
  reroll = await startReroll({ cluster, namespaces: [...spaces], sweepInterval: '1h', flags });
});

beforeEach(async () => {
  space = spaces.pop() as Space;
  await space.apply(configMap('cm', { v: '1' }));
});

/** Leaves room for nothing but a few short annotations, and not for the applied record. */
function full(): Modifier {
  return annotated({ [NOTES]: 'x'.repeat(MOST_ANNOTATION_BYTES - 140) });
}

async function toldOnce(ref: Ref, reason: Reason = 'AnnotationsFull'): Promise<void> {
  await eventually(async () => (await outcomesOf(ref)).at(-1)?.reason === reason);
  await eventually(async () => (await warningsOn(ref, reason)).length > 0);
}

async function outcomesOf(ref: Ref): Promise<readonly OutcomeEntry[]> {
  return await reroll.outcomes(space, ref);
}

async function warningsOn(ref: Ref, reason: Reason = 'AnnotationsFull'): Promise<string[]> {
  const events = await space.events(ref);
  return events.filter((event) => event.reason === reason).map(({ message }) => message);
}

it('a workload without room for the applied record in its annotations is left alone and told of, harms no other, and is reloaded once there is room', async () => {
  const refs: readonly Ref[] = ['Deployment/full', 'StatefulSet/full', 'CronJob/full'];
  const audit = new AuditLog(sharedCluster());
  for (const build of [deployment, statefulSet, cronJob])
    await space.apply(build('full', auto(), full(), usingEnvFrom('cm')));
  await space.apply(deployment('beside', auto(), usingEnvFrom('cm')));
  await inStep(space, 'Deployment/beside', CM);
  for (const ref of refs) await toldOnce(ref);

  const beside = await RolloutCount.from(space, 'Deployment/beside');
  await space.setData('ConfigMap/cm', { v: '2' });
  await inStep(space, 'Deployment/beside', CM);
  await settled(reroll, space);
  expect(await beside.now()).toBe(1);
  for (const ref of refs) {
    const outcomes = await outcomesOf(ref);
    expect(new Set(outcomes.map(({ state, reason }) => `${state} ${reason}`)), ref).toEqual(
      new Set(['unchanged AnnotationsFull']),
    );
    expect(await warningsOn(ref)).toEqual([expect.stringContaining('KiB of annotations')]);
  }
  const written = audit.of('reroll-worker/').filter(({ verb }) => verb !== 'get');
  expect(written.filter(({ objectRef }) => objectRef?.name === 'full')).toEqual([]);

  for (const ref of refs) await space.annotate(ref, { [NOTES]: null });
  for (const ref of refs) await inStep(space, ref, CM);
  await settled(reroll, space);
  for (const ref of refs) {
    const states = (await outcomesOf(ref)).map(({ state }) => state);
    expect(states.filter((state) => state === 'reloaded')).toHaveLength(1);
    expect(states).not.toContain('failed');
  }
});

it('a workload that has its applied record is reloaded, however full its annotations are', async () => {
  await space.apply(statefulSet('web', auto(), usingEnvFrom('cm')));
  const { metadata } = await inStep(space, 'StatefulSet/web', CM);
  const room = MOST_ANNOTATION_BYTES - annotationBytes(metadata.annotations) - NOTES.length;
  await space.annotate('StatefulSet/web', { [NOTES]: 'x'.repeat(room) });
  await space.setData('ConfigMap/cm', { v: '2' });
  await inStep(space, 'StatefulSet/web', CM);
  await settled(reroll, space);
  expect(await warningsOn('StatefulSet/web')).toEqual([]);
});

it('a pod template without room for the marker in its annotations is left as it is', async () => {
  const notes = podAnnotated({ [NOTES]: 'x'.repeat(MOST_ANNOTATION_BYTES - 140) });
  await space.apply(statefulSet('web', auto(), notes, usingEnvFrom('cm')));
  await inStep(space, 'StatefulSet/web', CM);
  const rollouts = await RolloutCount.from(space, 'StatefulSet/web');
  const audit = new AuditLog(sharedCluster());
  await space.setData('ConfigMap/cm', { v: '2' });
  await toldOnce('StatefulSet/web');
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(0);
  expect(await warningsOn('StatefulSet/web')).toEqual([expect.stringContaining('the pod template')]);
  const patches = audit.of('reroll-worker/').filter(({ verb }) => verb === 'patch');
  expect(patches.filter(({ objectRef }) => objectRef?.name === 'web')).toEqual([]);
});

it('a Job of which no copy can be kept, because that would have too many annotations, stays as it is', async () => {
  // The copy keeps annotations as JSON, in which each of these takes two bytes.
  const notes = annotated({ [NOTES]: '"'.repeat(MOST_ANNOTATION_BYTES / 2) });
  await space.apply(job('work', auto(), notes, usingEnvFrom('cm')));
  const { metadata } = await inStep(space, 'Job/work', CM);
  await space.setData('ConfigMap/cm', { v: '2' });
  await toldOnce('Job/work');
  expect((await space.get('Job/work')).metadata.uid).toBe(metadata.uid);
  expect(await pendingJobs(space)).toEqual([]);

  await space.annotate('Job/work', { [NOTES]: null });
  await inStep(space, 'Job/work', CM);
  await settled(reroll, space);
  expect((await space.get('Job/work')).metadata.uid).not.toBe(metadata.uid);
});

it.each([
  ['the workload', (annotations: Record<string, string>) => annotated(annotations), 'metadata.annotations'],
  [
    'its pod template',
    (annotations: Record<string, string>) => podAnnotated(annotations),
    'spec.template.annotations',
  ],
] as const)('the API server counts the annotations of %s as Reroll does', async (_, put, field) => {
  const create = async (characters: number): Promise<unknown> => {
    // Two bytes each.
    const annotations = { [NOTES]: 'é'.repeat(characters) };
    const manifest = deployment('web', put(annotations));
    const body = { ...manifest, metadata: { ...manifest.metadata, namespace: space.name } };
    const path = collectionPath(resourceOf('Deployment'), space.name);
    await space.client.post(path, body, { query: { dryRun: 'All' } });
    return annotationBytes(annotations);
  };
  const most = Math.floor((MOST_ANNOTATION_BYTES - NOTES.length) / 2);
  expect(await create(most)).toBeGreaterThan(MOST_ANNOTATION_BYTES - 2);
  const refusal = await create(most + 1).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(KubeError);
  expect(refusal).toMatchObject({ status: 422, causes: [{ reason: 'FieldValueTooLong', field }] });
});

it('a workload whose applied record would be too large is left alone until it depends on fewer sources', async () => {
  // Names as long as they may be: each takes about 310 bytes of the record.
  const names = Array.from({ length: 450 }, (_, index) => String(index).padStart(250, 'x'));
  await space.applyAll(names.map((name) => configMap(name, { v: '1' })));
  const web = (uses: readonly string[]): Manifest =>
    statefulSet('web', auto(), ...uses.map((name) => usingEnvFrom(name)));
  await space.apply(web(names), deployment('beside', auto(), usingEnvFrom('cm')));
  await toldOnce('StatefulSet/web', 'RecordTooLarge');
  await inStep(space, 'Deployment/beside', CM);
  const { metadata } = await space.get('StatefulSet/web');
  expect(metadata.annotations).not.toHaveProperty([RECORD_ANNOTATION]);

  const audit = new AuditLog(sharedCluster());
  const [changed = ''] = names;
  await space.setData(`ConfigMap/${changed}`, { v: '2' });
  await settled(reroll, space);
  const reads = audit.of('reroll-worker/').map(({ objectRef }) => objectRef?.name ?? '');
  expect(reads.filter((name) => names.includes(name))).toEqual([changed]);

  const fewer = names.slice(0, 2);
  await space.apply(web(fewer));
  await inStep(
    space,
    'StatefulSet/web',
    fewer.map((name) => `ConfigMap/${name}`),
  );
});
