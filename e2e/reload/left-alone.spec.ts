import { beforeAll, expect, it } from 'vitest';
import { MOST_ANNOTATION_BYTES, annotationBytes } from '@reroll/core/reload/annotation-room';
import type { OutcomeEntry } from '@reroll/core/history/entries';
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
  naming,
  podAnnotated,
  secret,
  statefulSet,
  usingEnvFrom,
  usingVolume,
  type Modifier,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, resourceOf, type Ref, type Space } from '../support/kube.ts';
import { pendingJobs } from '../support/objects/recreation.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, countRollouts, inStep, recordOf, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const NOTES = 'example.com/notes';
const CM = ['ConfigMap/cm'];
const BAD = { 'configmap.reloader.stakater.com/reload': 'web-[' };
const RELEASE = { type: 'helm.sh/release.v1' };

let space: Space;
/** With workloads that were there before the install. */
let first: Space;
let reroll: Reroll;
const fresh: Space[] = [];

/** One install for all; the next resync does not come within a test: what is done follows from events. */
beforeAll(async () => {
  const cluster = sharedCluster();
  first = await namespace(connect(cluster));
  for (let test = 0; test < 4; test += 1) fresh.push(await namespace(connect(cluster)));
  for (const each of [first, ...fresh]) await each.apply(configMap('cm', { v: '1' }));
  await first.apply(
    configMap('app', { v: '1' }),
    secret('release', { v: '1' }, RELEASE),
    secret('keys', { v: '1' }),
    deployment('before', annotated(BAD), usingEnvFrom('cm')),
    deployment('unwatched', naming('Secret/release')),
    deployment('lost', naming('Secret/nowhere')),
  );
  const flags = ['--reload-strategy=annotations'];
  reroll = await startReroll({ cluster, namespaces: [first, ...fresh], sweepInterval: '1h', flags });
});

async function warningsOn(ref: Ref, reason = 'AnnotationsFull'): Promise<string[]> {
  const events = (await space.events(ref)).filter((event) => event.reason === reason);
  expect(events.map(({ type }) => type)).toEqual(events.map(() => 'Warning'));
  return events.map(({ message }) => message);
}

/** Of its first outcome. */
async function outcomeOf(ref: Ref): Promise<OutcomeEntry> {
  return await eventually(async () => (await reroll.outcomes(space, ref))[0]);
}

it('a pattern that cannot be used is told, once, on a workload that was there before and on one that comes later', async () => {
  space = first;
  await space.apply(deployment('later', podAnnotated(BAD), usingEnvFrom('cm')));
  const refs = ['Deployment/before', 'Deployment/later'];
  const rollouts = await countRollouts(space, refs);
  for (const ref of refs) {
    const outcome = await outcomeOf(ref);
    expect(outcome).toMatchObject({ state: 'unchanged', reason: 'InvalidPattern' });
    expect(outcome.detail).toContain('"web-["');
    const words = `Skipping invalid reload annotation on Deployment '${ref.slice(11)}' in namespace '${space.name}'`;
    await eventually(() => reroll.logs().includes(`level=error msg="${words}"`));
    await eventually(async () => (await warningsOn(ref, 'InvalidAnnotation')).length > 0);
  }
  await space.setData('ConfigMap/cm', { v: '2' });
  for (const ref of refs)
    await space.patch(ref, { spec: { template: { metadata: { labels: { other: 'x' } } } } });
  await settled(reroll, space);
  for (const ref of refs) {
    const [warning = '', ...others] = await warningsOn(ref, 'InvalidAnnotation');
    expect(others).toEqual([]);
    expect(warning).toContain('expected a list of regular expressions (RE2), given "web-[": ');
  }
  // Those of the patches above.
  expect(await rollouts()).toEqual([1, 1]);
});

it('it harms no other workload, nor what the same workload names rightly, and is no error any more once it is mended', async () => {
  space = first;
  await space.apply(
    deployment('good', auto(), usingEnvFrom('cm')),
    deployment('half', naming('web-[,app'), usingEnvFrom('app')),
    deployment('bad', naming('web-['), usingEnvFrom('cm')),
  );
  const inStepBoth = async (): Promise<void> => {
    await inStep(space, 'Deployment/good', ['ConfigMap/cm']);
    await inStep(space, 'Deployment/half', ['ConfigMap/app']);
  };
  await inStepBoth();
  const rollouts = await countRollouts(space, ['Deployment/good', 'Deployment/half', 'Deployment/bad']);
  for (const source of ['ConfigMap/cm', 'ConfigMap/app']) await space.setData(source, { v: '3' });
  await inStepBoth();
  await settled(reroll, space);
  expect(await rollouts()).toEqual([1, 1, 0]);
  await eventually(async () => (await warningsOn('Deployment/half', 'InvalidAnnotation')).length === 1);
  const change = (await reroll.changes(space, 'ConfigMap/cm')).at(-1);
  expect(change?.leftAlone).toContainEqual(
    expect.objectContaining({ workload: `Deployment/${space.name}/bad`, reason: 'InvalidPattern' }),
  );

  await space.apply(deployment('bad', naming('c[m]'), usingEnvFrom('cm')));
  await inStep(space, 'Deployment/bad', ['ConfigMap/cm']);
  await space.setData('ConfigMap/cm', { v: '4' });
  await inStep(space, 'Deployment/bad', ['ConfigMap/cm']);
  expect((await rollouts())[2]).toBe(1);
});

it('a Secret of an ignored type, or that does not exist, is told, and its change reloads nothing; another Secret does', async () => {
  space = first;
  await space.apply(deployment('api', auto(), usingVolume('Secret/release'), usingEnvFrom('Secret/keys')));
  await inStep(space, 'Deployment/api', ['Secret/keys']);
  expect(await outcomeOf('Deployment/unwatched')).toMatchObject({
    state: 'unchanged',
    reason: 'SourceNotWatched',
    sources: { 'Secret/release': 'SourceNotWatched' },
  });
  expect(await outcomeOf('Deployment/lost')).toMatchObject({ reason: 'SourceAbsent' });
  const rollouts = await countRollouts(space, ['Deployment/api']);
  await space.setData('Secret/release', { v: '2' });
  await settled(reroll, space);
  expect(await rollouts()).toEqual([0]);
  await space.setData('Secret/keys', { v: '2' });
  const now = await inStep(space, 'Deployment/api', ['Secret/keys']);
  expect(await rollouts()).toEqual([1]);
  expect(Object.keys(recordOf(now))).toEqual(['Secret/keys']);
});

/** Leaves room for nothing but a few short annotations, and not for the applied record. */
function full(): Modifier {
  return annotated({ [NOTES]: 'x'.repeat(MOST_ANNOTATION_BYTES - 140) });
}

async function isTold(ref: Ref): Promise<void> {
  await eventually(async () => (await reroll.outcomes(space, ref)).at(-1)?.reason === 'AnnotationsFull');
  await eventually(async () => (await warningsOn(ref)).length > 0);
}

/** What a worker asked the API server to write to this object. */
function writesTo(name: string, audit: AuditLog): unknown[] {
  return audit
    .of('reroll-worker/')
    .filter(({ verb, objectRef }) => verb !== 'get' && objectRef?.name === name);
}

it('a workload without room for the applied record in its annotations is left alone and told of, harms no other, and is reloaded once there is room', async () => {
  space = fresh.pop() as Space;
  const refs: readonly Ref[] = ['Deployment/full', 'CronJob/full'];
  const audit = new AuditLog(sharedCluster());
  for (const build of [deployment, cronJob])
    await space.apply(build('full', auto(), full(), usingEnvFrom('cm')));
  await space.apply(deployment('beside', auto(), usingEnvFrom('cm')));
  await inStep(space, 'Deployment/beside', CM);
  for (const ref of refs) await isTold(ref);

  const beside = await RolloutCount.from(space, 'Deployment/beside');
  await space.setData('ConfigMap/cm', { v: '2' });
  await inStep(space, 'Deployment/beside', CM);
  await settled(reroll, space);
  expect(await beside.now()).toBe(1);
  for (const ref of refs) {
    const outcomes = await reroll.outcomes(space, ref);
    const told = new Set(outcomes.map(({ state, reason }) => `${state} ${reason}`));
    expect([...told], ref).toEqual(['unchanged AnnotationsFull']);
    expect(await warningsOn(ref)).toEqual([expect.stringContaining('KiB of annotations')]);
  }
  expect(writesTo('full', audit)).toEqual([]);

  for (const ref of refs) await space.annotate(ref, { [NOTES]: null });
  for (const ref of refs) await inStep(space, ref, CM);
  await settled(reroll, space);
  for (const ref of refs) {
    const states = (await reroll.outcomes(space, ref)).map(({ state }) => state);
    expect(states.filter((state) => state === 'reloaded')).toHaveLength(1);
    expect(states).not.toContain('failed');
  }
});

it('a workload that has its applied record is reloaded, however full its annotations are', async () => {
  space = fresh.pop() as Space;
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
  space = fresh.pop() as Space;
  const notes = podAnnotated({ [NOTES]: 'x'.repeat(MOST_ANNOTATION_BYTES - 140) });
  await space.apply(statefulSet('web', auto(), notes, usingEnvFrom('cm')));
  await inStep(space, 'StatefulSet/web', CM);
  const rollouts = await RolloutCount.from(space, 'StatefulSet/web');
  const audit = new AuditLog(sharedCluster());
  await space.setData('ConfigMap/cm', { v: '2' });
  await isTold('StatefulSet/web');
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(0);
  expect(await warningsOn('StatefulSet/web')).toEqual([expect.stringContaining('the pod template')]);
  expect(writesTo('web', audit)).toEqual([]);
});

it('a Job of which no copy can be kept, because that would have too many annotations, stays as it is', async () => {
  space = fresh.pop() as Space;
  // The copy keeps annotations as JSON, in which each of these takes two bytes.
  const notes = annotated({ [NOTES]: '"'.repeat(MOST_ANNOTATION_BYTES / 2) });
  await space.apply(job('work', auto(), notes, usingEnvFrom('cm')));
  const { metadata } = await inStep(space, 'Job/work', CM);
  await space.setData('ConfigMap/cm', { v: '2' });
  await isTold('Job/work');
  expect((await space.get('Job/work')).metadata.uid).toBe(metadata.uid);
  expect(await pendingJobs(space)).toEqual([]);

  await space.annotate('Job/work', { [NOTES]: null });
  await inStep(space, 'Job/work', CM);
  await settled(reroll, space);
  expect((await space.get('Job/work')).metadata.uid).not.toBe(metadata.uid);
});

it.each([
  ['the workload', annotated, 'metadata.annotations'],
  ['its pod template', podAnnotated, 'spec.template.annotations'],
])('the API server counts the annotations of %s as Reroll does', async (_, put, field) => {
  space = first;
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
