import { beforeAll, describe, expect, it } from 'vitest';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import type { OutcomeEntry } from '@reroll/core/history/entries';
import { annotated, auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
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

function pauseOf(object: KubeObject): { paused: boolean; pausedAt: string | undefined } {
  return { paused: isPaused(object), pausedAt: pausedAt(object) };
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
    expect(pauseOf(object)).toEqual({ paused: false, pausedAt: undefined });
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
      ['by-hand', period('1h')],
      ['unreadable', period('5minutes')],
      ['asked', period('1h')],
    );
    reroll = await startReroll({ cluster: sharedCluster(), namespaces: [space] });
    const names = ['long', 'short', 'by-hand', 'unreadable', 'asked'];
    for (const name of names) await inStep(space, `Deployment/${name}`, CM);
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

  it('is paused by a manual reload too, and a second one joins it', async () => {
    const { generation } = (await space.get('Deployment/asked')).metadata;
    const outcome = await asked(reroll, space, 'Deployment/asked');
    expect(outcome).toMatchObject({ state: 'reloaded', reason: 'ReloadedPaused', rolled: [] });
    const first = await space.get('Deployment/asked');
    expect(isPaused(first)).toBe(true);
    expect(first.metadata.generation).toBe(generation + 1);
    expect(await asked(reroll, space, 'Deployment/asked')).toMatchObject({ reason: 'ReloadedPaused' });
    expect(pausedAt(await space.get('Deployment/asked'))).toBe(pausedAt(first));
    expect(await revisions(space, 'Deployment/asked')).toBe(1);
  });

  it('that was resumed by hand loses the time left over, and the next change pauses it anew; one that its owner paused stays so', async () => {
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
    expect(pauseOf(owners)).toEqual({ paused: true, pausedAt: undefined });
  });

  it('that cannot be used reloads at once, and its owner is told', async () => {
    const ref = 'Deployment/unreadable';
    const rollouts = await RolloutCount.from(space, ref);
    expect(isPaused(await change(space, ref))).toBe(false);
    await settled(reroll, space);
    expect(await rollouts.now()).toBe(1);
    const problem = 'expected a duration such as 5m or 1h30m, given "5minutes"';
    const outcome = await lastReload(reroll, space, ref);
    expect(outcome).toMatchObject({ reason: 'ReloadedWithoutPause' });
    expect(outcome.detail).toContain(problem);
    const event = await space.event(ref, 'InvalidAnnotation');
    expect(event.message).toContain(problem);
    expect(event.message).toContain(KEYS.pausePeriod);
  });
});

it('a pause whose end is lost with all that Redis has is found by the resync or, if nobody ran, at start; other keys work too', async () => {
  const keys = { period: 'example.com/hold', since: 'example.com/held-since' };
  const space = await spaceWith(['web', { [keys.period]: '4s' }]);
  const flags = [
    `--pause-deployment-annotation=${keys.period}`,
    `--pause-deployment-time-annotation=${keys.since}`,
  ];
  const options = { cluster: sharedCluster(), namespaces: [space], sweepInterval: '1s', flags };
  const goesOn = async (): Promise<unknown> =>
    await eventually(async () => {
      const object = await space.get('Deployment/web');
      return !isPaused(object) && object.metadata.annotations?.[keys.since] === undefined;
    });
  const reroll = await startReroll(options);
  await inStep(space, 'Deployment/web', CM);
  await settled(reroll, space);
  expect(isPaused(await change(space, 'Deployment/web'))).toBe(true);
  await eventually(async () => (await reroll.queues.resumes.getDelayedCount()) === 1);
  await reroll.redis.del(...(await reroll.redis.keys(`${reroll.catalog.keys.prefix}*`)));
  await goesOn();

  await settled(reroll, space);
  await space.annotate('Deployment/web', { [keys.period]: '1h' });
  const paused = await change(space, 'Deployment/web');
  expect(isPaused(paused)).toBe(true);
  expect(paused.metadata.annotations?.[keys.since]).toBeDefined();
  await reroll.stop();
  const earlier = new Date(Date.now() - 7_200_000).toISOString();
  await space.annotate('Deployment/web', { [keys.since]: earlier });
  // Another install: other Redis keys, so nothing is there of the first one's.
  await startReroll(options);
  await goesOn();
});
