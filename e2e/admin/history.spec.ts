import { beforeAll, describe, expect, it } from 'vitest';
import type { ChangeEntry, OutcomeEntry } from '@reroll/core/history/entries';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { hashOf, inStep } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  reroll = await startReroll({ cluster, namespaces: [space] });
});

/** A ConfigMap and a workload that is recorded with it. */
async function adopted(name: string): Promise<void> {
  await space.apply(configMap(name, { v: '0' }), deployment(name, auto(), usingEnvFrom(name)));
  await inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`]);
}

/** What is told of a ConfigMap's changes, once there are as many. */
async function told(name: string, count: number): Promise<Pick<ChangeEntry, 'cause' | 'from' | 'hash'>[]> {
  const entries = await eventually(async () => {
    const changes = await reroll.changes(space, `ConfigMap/${name}`);
    expect(changes.length).toBeGreaterThanOrEqual(count);
    return changes;
  });
  return entries.map(({ cause, from, hash }) => ({ cause, from, hash }));
}

async function hashNow(name: string): Promise<string> {
  return hashOf(await space.get(`ConfigMap/${name}`));
}

/** Writes data, waits until it is rolled, and gives its hash. */
async function rolledTo(name: string, v: string): Promise<string> {
  await space.setData(`ConfigMap/${name}`, { v });
  await inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`]);
  return await hashNow(name);
}

describe('a change in the history', () => {
  it('says from what to what, and so do those after it', async () => {
    await adopted('update');
    const [zero, one, two] = [
      await hashNow('update'),
      await rolledTo('update', '1'),
      await rolledTo('update', '2'),
    ];
    expect(await told('update', 2)).toEqual([
      { cause: 'updated', from: zero, hash: one },
      { cause: 'updated', from: one, hash: two },
    ]);
  });

  it('says that its source was deleted, and that it was created again', async () => {
    await adopted('again');
    const zero = await hashNow('again');
    await space.delete('ConfigMap/again');
    expect(await told('again', 1)).toEqual([{ cause: 'deleted', from: zero, hash: null }]);
    await space.apply(configMap('again', { v: '1' }));
    await inStep(space, 'Deployment/again', ['ConfigMap/again']);
    expect((await told('again', 2)).at(-1)).toEqual({
      cause: 'created',
      from: null,
      hash: await hashNow('again'),
    });
  });

  it('is one for several writes before its job, from the first state to the last', async () => {
    await adopted('burst');
    const zero = await hashNow('burst');
    await reroll.queues.changes.pause();
    for (const v of ['1', '2', '3']) await space.setData('ConfigMap/burst', { v });
    const { metadata } = await space.get('ConfigMap/burst');
    await eventually(async () => {
      const key = keyIn(space, 'ConfigMap/burst');
      return (await reroll.catalog.sources([key])).get(key)?.rv === metadata.resourceVersion;
    });
    await reroll.queues.changes.resume();
    await inStep(space, 'Deployment/burst', ['ConfigMap/burst']);
    expect(await told('burst', 1)).toEqual([{ cause: 'updated', from: zero, hash: await hashNow('burst') }]);
  });

  it('is a repetition if its job runs again without a change', async () => {
    await adopted('twice');
    const one = await rolledTo('twice', '1');
    await told('twice', 1);
    await reroll.queues.enqueueChanges([keyIn(space, 'ConfigMap/twice')], Date.now());
    expect((await told('twice', 2)).at(-1)).toEqual({ cause: 'repeated', from: one, hash: one });
  });

  it('that nobody saw live was missed', async () => {
    await adopted('gap');
    const zero = await hashNow('gap');
    await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
    await space.setData('ConfigMap/gap', { v: '1' });
    reroll.start('watcher');
    await reroll.ready();
    await inStep(space, 'Deployment/gap', ['ConfigMap/gap']);
    expect(await told('gap', 1)).toEqual([{ cause: 'missed', from: zero, hash: await hashNow('gap') }]);
  });
});

describe('an outcome in the history', () => {
  async function lastOutcome(name: string, state: OutcomeEntry['state']): Promise<OutcomeEntry> {
    return await eventually(async () =>
      (await reroll.outcomes(space, `Deployment/${name}`)).findLast((outcome) => outcome.state === state),
    );
  }

  it('has the generation that its patch gave the workload, and how often it may be tried', async () => {
    await adopted('generation');
    await rolledTo('generation', '1');
    const { generation } = (await space.get('Deployment/generation')).metadata;
    expect(await lastOutcome('generation', 'reloaded')).toMatchObject({
      generation,
      attempt: 1,
      attempts: 5,
    });
  });

  it('of a job that cannot be done has no next attempt', async () => {
    await reroll.queues.enqueueReloads([{ workload: keyIn(space, 'Nothing/of-ours'), since: Date.now() }]);
    const final = await eventually(async () => (await reroll.outcomes(space, 'Nothing/of-ours')).at(-1));
    expect(final).toMatchObject({ state: 'failed', reason: 'InvalidJob', attempt: 1 });
    expect(final.next).toBeUndefined();
  });
});
