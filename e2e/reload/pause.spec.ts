import { beforeAll, describe, expect, it } from 'vitest';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import type { OutcomeEntry } from '@reroll/core/history/entries';
import {
  annotated,
  auto,
  configMap,
  deployment,
  statefulSet,
  usingEnvFrom,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type KubeObject, type Space, type WorkloadRef } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, markerVariables, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const CM = ['ConfigMap/cm'] as const;

let changes = 0;

function isPaused({ spec }: KubeObject): boolean {
  return (spec as { paused?: boolean }).paused === true;
}

function pausedAt({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[KEYS.pausedAt];
}

/** Changes the source that all of them use, and waits until this workload's record has it. */
async function change(space: Space, ref: string): Promise<KubeObject> {
  changes += 1;
  await space.setData('ConfigMap/cm', { v: `change ${changes}` });
  return await inStep(space, ref, CM);
}

async function resumed(space: Space, ref: string): Promise<KubeObject> {
  return await eventually(async () => {
    const object = await space.get(ref);
    expect({ paused: isPaused(object), pausedAt: pausedAt(object) }).toEqual({
      paused: false,
      pausedAt: undefined,
    });
    return object;
  });
}

/** How many revisions its controller has made of it: each is a rollout of its pods. */
async function revisions(space: Space, ref: string): Promise<number> {
  const { uid } = (await space.get(ref)).metadata;
  const sets = await space.list('ReplicaSet');
  return sets.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid)).length;
}

async function lastReload(reroll: Reroll, space: Space, ref: string): Promise<OutcomeEntry> {
  return await eventually(async () =>
    (await reroll.outcomes(space, ref)).findLast(({ state }) => state === 'reloaded'),
  );
}

/** What comes of a person's request. */
async function asked(reroll: Reroll, space: Space, ref: WorkloadRef): Promise<OutcomeEntry> {
  const requests = new ReloadRequests(reroll.redis, reroll.catalog.keys.requests);
  const { id } = await requests.put(keyIn(space, ref), { actor: 'ann', reason: 'a test' });
  await reroll.queues.enqueueReloadNow(keyIn(space, ref), Date.now());
  return await eventually(async () =>
    (await reroll.outcomes(space, ref)).findLast(({ request }) => request?.id === id),
  );
}

async function spaceWith(...names: readonly (readonly [string, Record<string, string>])[]): Promise<Space> {
  const space = await namespace(connect(sharedCluster()));
  await space.apply(configMap('cm', { v: '0' }));
  await space.applyAll(
    names.map(([name, annotations]) => deployment(name, auto(), annotated(annotations), usingEnvFrom('cm'))),
  );
  return space;
}

function period(text: string): Record<string, string> {
  return { [KEYS.pausePeriod]: text };
}

describe('a Deployment with a pause-period', () => {
  let space: Space;
  let reroll: Reroll;

  beforeAll(async () => {
    space = await spaceWith(
      ['long', period('1h')],
      ['short', period('1s')],
      ['owned', period('1h')],
      ['by-hand', period('1h')],
      ['unreadable', period('5minutes')],
      ['zero', period('0s')],
      ['negative', period('-5m')],
      ['asked', period('1h')],
    );
    await space.apply(statefulSet('stateful', auto(), annotated(period('1h')), usingEnvFrom('cm')));
    reroll = await startReroll({ cluster: sharedCluster(), namespaces: [space] });
    const names = ['long', 'short', 'owned', 'by-hand', 'unreadable', 'zero', 'negative', 'asked'];
    for (const name of names) await inStep(space, `Deployment/${name}`, CM);
    await inStep(space, 'StatefulSet/stateful', CM);
    await settled(reroll, space);
  });

  it('gets marker, record and pause in one write, further changes join it, and its end lets one rollout go', async () => {
    const before = await space.get('Deployment/long');
    const rollouts = await RolloutCount.from(space, 'Deployment/long');
    await eventually(async () => (await revisions(space, 'Deployment/long')) === 1);
    const first = await change(space, 'Deployment/long');
    expect(first.metadata.generation).toBe(before.metadata.generation + 1);
    expect(isPaused(first)).toBe(true);
    expect(new Date(pausedAt(first) ?? '').toISOString()).toBe(pausedAt(first));
    expect(Object.keys(markerVariables(first)['app'] ?? {})).toEqual(['STAKATER_CM_CONFIGMAP']);
    await eventually(() =>
      reroll.logs().includes(`Pausing Deployment 'long' in namespace '${space.name}' for 1h`),
    );
    const second = await change(space, 'Deployment/long');
    expect(pausedAt(second)).toBe(pausedAt(first));
    expect(markerVariables(second)).not.toEqual(markerVariables(first));
    await settled(reroll, space);
    const outcome = await lastReload(reroll, space, 'Deployment/long');
    expect(outcome).toMatchObject({ reason: 'ReloadedPaused' });
    expect(await revisions(space, 'Deployment/long')).toBe(1);
    expect(reroll.logs()).toContain(`Deployment 'long' in namespace '${space.name}' already paused`);
    await space.annotate('Deployment/long', period('1s'));
    const after = await resumed(space, 'Deployment/long');
    expect(after.spec.template).toEqual(second.spec.template);
    expect(await rollouts.now()).toBe(2);
    await eventually(async () => (await revisions(space, 'Deployment/long')) > 1);
    await settled(reroll, space);
    expect(await revisions(space, 'Deployment/long')).toBe(2);
  });

  it('goes on by itself when the period is over', async () => {
    await change(space, 'Deployment/short');
    await resumed(space, 'Deployment/short');
    await eventually(() =>
      reroll.logs().includes(`Successfully resumed deployment 'short' in namespace '${space.name}'`),
    );
  });

  it('is paused by the reload that a person asks for too, and a second one joins it', async () => {
    await settled(reroll, space);
    const rollouts = await RolloutCount.from(space, 'Deployment/asked');
    const { generation } = (await space.get('Deployment/asked')).metadata;
    const outcome = await asked(reroll, space, 'Deployment/asked');
    expect(outcome).toMatchObject({ state: 'reloaded', reason: 'ReloadedPaused', rolled: [] });
    const first = await space.get('Deployment/asked');
    expect(isPaused(first)).toBe(true);
    expect(pausedAt(first)).toBeDefined();
    expect(first.metadata.generation).toBe(generation + 1);
    expect(await asked(reroll, space, 'Deployment/asked')).toMatchObject({ reason: 'ReloadedPaused' });
    const second = await space.get('Deployment/asked');
    expect(pausedAt(second)).toBe(pausedAt(first));
    expect(await revisions(space, 'Deployment/asked')).toBe(1);
    await space.annotate('Deployment/asked', period('1s'));
    const after = await resumed(space, 'Deployment/asked');
    expect(after.spec.template).toEqual(second.spec.template);
    await eventually(async () => (await revisions(space, 'Deployment/asked')) > 1);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(2);
    expect(await revisions(space, 'Deployment/asked')).toBe(2);
  });

  it('is patched and left paused if its owner paused it', async () => {
    await space.patch('Deployment/owned', {
      spec: { paused: true },
      metadata: { annotations: { [KEYS.pausedAt]: null } },
    });
    const before = await space.get('Deployment/owned');
    const after = await change(space, 'Deployment/owned');
    await settled(reroll, space);
    expect(markerVariables(after)).not.toEqual(markerVariables(before));
    const now = await space.get('Deployment/owned');
    expect({ paused: isPaused(now), pausedAt: pausedAt(now) }).toEqual({ paused: true, pausedAt: undefined });
  });

  it('that was resumed by hand loses the time left over, and the next change pauses it anew', async () => {
    const first = await change(space, 'Deployment/by-hand');
    expect(isPaused(first)).toBe(true);
    await space.patch('Deployment/by-hand', { spec: { paused: false } });
    await resumed(space, 'Deployment/by-hand');
    const second = await change(space, 'Deployment/by-hand');
    expect(isPaused(second)).toBe(true);
    expect(pausedAt(second)).not.toBe(pausedAt(first));
    await space.annotate('Deployment/by-hand', period('1ms'));
    await resumed(space, 'Deployment/by-hand');
    await space.patch('Deployment/by-hand', { spec: { paused: true } });
    await change(space, 'Deployment/by-hand');
    await settled(reroll, space);
    const owners = await space.get('Deployment/by-hand');
    expect({ paused: isPaused(owners), pausedAt: pausedAt(owners) }).toEqual({
      paused: true,
      pausedAt: undefined,
    });
  });

  it.each([
    ['Deployment/unreadable', 'expected a duration such as 5m or 1h30m, given "5minutes"'],
    ['StatefulSet/stateful', 'only applicable for deployments'],
  ])('that cannot be used reloads at once, and its owner is told: %s', async (ref, problem) => {
    await settled(reroll, space);
    const rollouts = await RolloutCount.from(space, ref);
    const after = await change(space, ref);
    expect(isPaused(after)).toBe(false);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
    const outcome = await lastReload(reroll, space, ref);
    expect(outcome).toMatchObject({ reason: 'ReloadedWithoutPause' });
    expect(outcome.detail).toContain(problem);
    const event = await eventually(async () =>
      (await space.events(ref)).find(({ reason }) => reason === 'InvalidAnnotation'),
    );
    expect(event.message).toContain(problem);
    expect(event.message).toContain(KEYS.pausePeriod);
  });

  it.each(['zero', 'negative'])('that is not longer than nothing rolls at once: %s', async (name) => {
    const after = await change(space, `Deployment/${name}`);
    expect({ paused: isPaused(after), pausedAt: pausedAt(after) }).toEqual({
      paused: false,
      pausedAt: undefined,
    });
    await settled(reroll, space);
    const outcome = await lastReload(reroll, space, `Deployment/${name}`);
    expect(outcome).toMatchObject({ reason: 'Reloaded' });
  });
});

it('a pause whose end is lost with all that Redis has, while everything runs, is found by the resync', async () => {
  const space = await spaceWith(['web', period('4s')]);
  const reroll = await startReroll({
    cluster: sharedCluster(),
    namespaces: [space],
    sweepInterval: '1s',
  });
  await inStep(space, 'Deployment/web', CM);
  await settled(reroll, space);
  expect(isPaused(await change(space, 'Deployment/web'))).toBe(true);
  await eventually(async () => (await reroll.queues.resumes.getDelayedCount()) === 1);
  const keys = await reroll.redis.keys(`${reroll.catalog.keys.prefix}*`);
  await reroll.redis.del(...keys);
  await resumed(space, 'Deployment/web');
});

it('a pause that ended while nobody ran and Redis was lost is found at start; other keys work too', async () => {
  const keys = { period: 'example.com/hold', since: 'example.com/held-since' };
  const space = await spaceWith(['web', { [keys.period]: '1h' }]);
  const options = {
    cluster: sharedCluster(),
    namespaces: [space],
    flags: [
      `--pause-deployment-annotation=${keys.period}`,
      `--pause-deployment-time-annotation=${keys.since}`,
    ],
  };
  const reroll = await startReroll(options);
  await inStep(space, 'Deployment/web', CM);
  const paused = await change(space, 'Deployment/web');
  expect(isPaused(paused)).toBe(true);
  expect(paused.metadata.annotations?.[keys.since]).toBeDefined();
  await reroll.stop();
  const earlier = new Date(Date.now() - 7_200_000).toISOString();
  await space.annotate('Deployment/web', { [keys.since]: earlier });
  // Another install: other Redis keys, so nothing is there of the first one's.
  await startReroll(options);
  await eventually(async () => {
    const object = await space.get('Deployment/web');
    return !isPaused(object) && object.metadata.annotations?.[keys.since] === undefined;
  });
});
