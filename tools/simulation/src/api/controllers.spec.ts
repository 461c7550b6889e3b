import { workloadKind } from '@reroll/kube/workloads/registry';
import type { KubeObject } from '@reroll/kube/objects';
import type { RolloutStatus } from '@reroll/core/rollouts/rollout';
import { expect, test } from 'vitest';
import { Rollouts } from '../world/rollouts.ts';
import type { ApiObject } from './api-object.ts';
import { Controllers } from './controllers.ts';
import { SimulatedApi } from './simulated-api.ts';
import { virtualTime } from './testing/virtual-time.ts';

const LABELS = { app: 'web' };

function setup() {
  const time = virtualTime();
  const api = new SimulatedApi({ scheduler: time });
  const started: string[] = [];
  const broken = new Set<string>();
  const controllers = new Controllers({
    scheduler: time,
    api,
    onPodsStarted: ({ kind, metadata }) => started.push(`${kind} ${metadata.name}`),
    areBroken: ({ kind }) => broken.has(kind),
  });
  const world = api.as('owner');
  world.create({ kind: 'Namespace', namespace: '' }, { metadata: { name: 'shop' } });
  const make = (kind: string, spec: object, more: object = {}): ApiObject =>
    world.create(
      { kind, namespace: 'shop' },
      { ...manifest(kind), metadata: { name: 'web', ...more }, spec },
    );
  return { time, api, world, controllers, started, broken, make };
}

function manifest(kind: string): object {
  return kind === 'Rollout' ? { apiVersion: 'argoproj.io/v1alpha1', kind } : {};
}

function template(value: string): object {
  return { metadata: { labels: LABELS, annotations: { value } }, spec: { containers: [{ name: 'app' }] } };
}

function rollout(object: ApiObject | undefined): RolloutStatus | undefined {
  return object && workloadKind(object.kind)?.rolloutStatus(object as unknown as KubeObject);
}

test.each(['Deployment', 'StatefulSet', 'DaemonSet', 'Rollout'])(
  'a changed template of a %s starts pods, and is complete after a while',
  async (kind) => {
    const { time, world, started, controllers, make } = setup();
    const id = { kind, namespace: 'shop', name: 'web' };
    make(kind, { selector: { matchLabels: LABELS }, template: template('1') });
    await time.run(60_000);
    expect(started).toEqual([`${kind} web`]);
    expect(rollout(world.get(id))).toMatchObject({ state: 'complete', code: 'Complete' });
    world.patch(id, { spec: { template: { metadata: { annotations: { value: '2' } } } } });
    expect(rollout(world.get(id))).toMatchObject({ state: 'progressing' });
    await time.run(60_000);
    expect(started).toHaveLength(2);
    expect(rollout(world.get(id))).toMatchObject({ state: 'complete' });
    world.patch(id, { metadata: { annotations: { other: 'x' } } });
    await time.run(60_000);
    expect(started).toHaveLength(2);
    expect(rollout(world.get(id))).toMatchObject({ state: 'complete' });
    expect(controllers.isIdle).toBe(true);
  },
);

test.each([
  ['Deployment', 'stuck', 'ProgressDeadlineExceeded'],
  ['StatefulSet', 'progressing', 'Unavailable'],
  ['DaemonSet', 'progressing', 'Unavailable'],
  ['Rollout', 'stuck', 'Degraded'],
])('a %s whose pods are broken is %s (%s) until they are not', async (kind, state, code) => {
  const { time, world, broken, make } = setup();
  const id = { kind, namespace: 'shop', name: 'web' };
  broken.add(kind);
  make(kind, { selector: { matchLabels: LABELS }, template: template('1') });
  await time.run(60_000);
  expect(rollout(world.get(id))).toMatchObject({ state, code, ready: 0 });
  world.patch(id, { metadata: { annotations: { other: 'x' } } });
  await time.run(60_000);
  expect(rollout(world.get(id))).toMatchObject({ state, code, ready: 0 });
  broken.delete(kind);
  await time.run(60_000);
  expect(rollout(world.get(id))).toMatchObject({ state: 'complete', code: 'Complete' });
});

test('a paused Deployment starts its pods when it is resumed', async () => {
  const { time, world, started, make } = setup();
  make('Deployment', { paused: true, selector: { matchLabels: LABELS }, template: template('1') });
  await time.run(60_000);
  expect(started).toEqual([]);
  world.patch({ kind: 'Deployment', namespace: 'shop', name: 'web' }, { spec: { paused: null } });
  await time.run(60_000);
  expect(started).toEqual(['Deployment web']);
});

test('a Deployment that is paused with another template has no pods of it', async () => {
  const { time, api, world, make } = setup();
  const rollouts = new Rollouts(() => time.now());
  api.onChange(({ before, after }) =>
    rollouts.noted({ before: before?.object, after: after?.object, by: undefined }),
  );
  const readyAt = (): number | undefined => rollouts.get('Deployment/shop/web')?.readyAt;
  const id = { kind: 'Deployment', namespace: 'shop', name: 'web' };
  make('Deployment', { selector: { matchLabels: LABELS }, template: template('1') });
  await time.run(60_000);
  world.patch(id, { spec: { paused: true } });
  await time.run(60_000);
  expect(rollout(world.get(id))).toMatchObject({ state: 'complete' });
  expect(readyAt()).toBeDefined();
  world.patch(id, { spec: { template: template('2') } });
  await time.run(60_000);
  expect(rollout(world.get(id))).toMatchObject({ state: 'progressing', code: 'Paused', ready: 1 });
  expect(world.get(id)).toMatchObject({
    status: { updatedReplicas: 0, conditions: [{ type: 'Progressing', reason: 'DeploymentPaused' }] },
  });
  expect(readyAt()).toBeUndefined();
  world.patch(id, { spec: { paused: null } });
  await time.run(60_000);
  expect(rollout(world.get(id))).toMatchObject({ state: 'complete' });
});

test('a Rollout with a workloadRef follows the template of its Deployment', async () => {
  const { time, world, started, make } = setup();
  make('Deployment', { replicas: 0, selector: { matchLabels: LABELS }, template: template('1') });
  make('Rollout', { workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } });
  await time.run(60_000);
  started.length = 0;
  world.patch(
    { kind: 'Deployment', namespace: 'shop', name: 'web' },
    { spec: { template: { metadata: { annotations: { value: '2' } } } } },
  );
  await time.run(60_000);
  expect(started.toSorted()).toEqual(['Deployment web', 'Rollout web']);
  const id = { kind: 'Rollout', namespace: 'shop', name: 'web' };
  expect(world.get(id)).toMatchObject({ status: { workloadObservedGeneration: '2', phase: 'Healthy' } });
});

test('a Job completes, unless it is suspended', async () => {
  const { time, world, make } = setup();
  const id = { kind: 'Job', namespace: 'shop', name: 'web' };
  make('Job', { suspend: true, template: template('1') });
  await time.run(60_000);
  expect(rollout(world.get(id))).toMatchObject({ state: 'progressing' });
  world.patch(id, { spec: { suspend: false } });
  await time.run(60_000);
  expect(rollout(world.get(id))).toMatchObject({ state: 'complete' });
});

test('a namespace takes its content along', async () => {
  const { time, world, make } = setup();
  make('Deployment', { selector: { matchLabels: LABELS }, template: template('1') });
  await time.run(100);
  world.delete({ kind: 'Namespace', namespace: '', name: 'shop' });
  expect(world.get({ kind: 'Namespace', namespace: '', name: 'shop' })).toMatchObject({
    status: { phase: 'Terminating' },
  });
  expect(() => make('Deployment', {})).toThrow(/being terminated/);
  await time.run(60_000);
  expect(world.list('Deployment')).toEqual([]);
  expect(world.get({ kind: 'Namespace', namespace: '', name: 'shop' })).toBeUndefined();
});

test.each(['Background', 'Foreground', 'Orphan'])(
  'dependants go with their owner, or stay (%s)',
  async (propagationPolicy) => {
    const { time, world, make } = setup();
    const { uid } = make('CronJob', {
      schedule: '0 0 1 1 *',
      jobTemplate: { spec: { template: template('1') } },
    }).metadata;
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'web', uid, controller: true }];
    make('Job', { template: template('1') }, { ownerReferences });
    world.delete({ kind: 'CronJob', namespace: 'shop', name: 'web' }, { propagationPolicy });
    await time.run(60_000);
    expect(world.list('CronJob')).toEqual([]);
    const left = world.list('Job').map(({ metadata }) => metadata.ownerReferences);
    expect(left).toEqual(propagationPolicy === 'Orphan' ? [undefined] : []);
  },
);
