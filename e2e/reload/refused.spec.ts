import { beforeEach, describe, expect, it } from 'vitest';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { refuseUpdates } from '../support/objects/policy.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const GOOD = Array.from({ length: 20 }, (_, index) => `good-${index}`);
const BAD = 'Deployment/bad';

let space: Space;

beforeEach(async () => {
  space = await namespace(connect(sharedCluster()));
  await space.apply(configMap('cm', { v: '1' }));
  await space.applyAll([...GOOD, 'bad'].map((name) => deployment(name, auto(), usingEnvFrom('cm'))));
});

async function start(flags: readonly string[] = []): Promise<Reroll> {
  const reroll = await startReroll({
    cluster: sharedCluster(),
    namespaces: [space],
    sweepInterval: '1s',
    flags: ['--attempts=3', '--backoff=100ms', ...flags],
  });
  for (const name of [...GOOD, 'bad']) await inStep(space, `Deployment/${name}`, ['ConfigMap/cm']);
  return reroll;
}

describe.each([
  { reason: 'Invalid', status: 422, attempts: 1 },
  { reason: 'Forbidden', status: 403, attempts: 3 },
] as const)('a workload that the API server refuses as $reason', ({ reason, status, attempts }) => {
  it('harms none of 20 others, and is told of: by an Event, in the history, in the log', async () => {
    const reroll = await start();
    const refs = GOOD.map((name) => `Deployment/${name}`);
    const counts = await Promise.all(refs.map((ref) => RolloutCount.from(space, ref)));
    const bad = await RolloutCount.from(space, BAD);
    await refuseUpdates(space, { workloads: ['bad'], reason });
    await space.setData('ConfigMap/cm', { v: '2' });
    for (const ref of refs) await inStep(space, ref, ['ConfigMap/cm']);
    const failed = await eventually(async () =>
      (await reroll.outcomes(space, BAD)).find(({ state }) => state === 'failed'),
    );
    expect(failed).toMatchObject({ reason, attempt: attempts, rolled: [] });
    expect(failed.error).toBe(`${reason}: KUBE_API ${status} ${reason}`);
    const retries = (await reroll.outcomes(space, BAD)).filter(({ state }) => state === 'retrying');
    expect(retries.length).toBeGreaterThanOrEqual(attempts - 1);
    for (const { at, next, attempts: most } of retries) {
      expect(next).toBeGreaterThan(at - 1_000);
      expect(most).toBe(attempts);
    }
    expect(failed.next).toBeUndefined();
    await eventually(async () => {
      const events = (await space.events(BAD)).filter((event) => event.reason === 'ReloadFail');
      expect(events[0]?.message).toBe(
        `Update for 'bad' of type 'Deployment' in namespace '${space.name}' failed with error ` +
          `${reason}: KUBE_API ${status} ${reason}`,
      );
      expect(events[0]?.type).toBe('Warning');
      return true;
    });
    expect(reroll.logs()).toContain(`failed with error ${reason}: KUBE_API ${status} ${reason}`);
    expect(await Promise.all(counts.map((count) => count.now()))).toEqual(GOOD.map(() => 1));
    expect(await bad.now()).toBe(0);
  });

  it('is rolled by the resync, once, when the API server takes it again, without another change', async () => {
    const reroll = await start();
    const bad = await RolloutCount.from(space, BAD);
    const refusal = await refuseUpdates(space, { workloads: ['bad'], reason });
    await space.setData('ConfigMap/cm', { v: '2' });
    await eventually(async () => (await reroll.outcomes(space, BAD)).some(({ state }) => state === 'failed'));
    await refusal.end();
    await inStep(space, BAD, ['ConfigMap/cm']);
    await settled(reroll, space);
    expect(await bad.now()).toBe(1);
  });
});

it('a refused workload is told of by an Event also when nobody but the resync asked for its reload', async () => {
  const reroll = await start();
  await reroll.idle();
  await refuseUpdates(space, { workloads: ['bad'], reason: 'Invalid' });
  await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
  await space.setData('ConfigMap/cm', { v: '2' });
  // As a resync would: nobody knows any more which change it was.
  await reroll.queues.enqueueReloads([{ workload: keyIn(space, BAD), since: Date.now() }]);
  await reroll.idle();
  await reroll.start('watcher').ready();
  await eventually(async () => (await space.events(BAD)).some((event) => event.reason === 'ReloadFail'));
});

it('a new change brings a refused workload forward from its back-off', async () => {
  const reroll = await start(['--attempts=5', '--backoff=1h']);
  const bad = await RolloutCount.from(space, BAD);
  const refusal = await refuseUpdates(space, { workloads: ['bad'], reason: 'Forbidden' });
  await space.setData('ConfigMap/cm', { v: '2' });
  await eventually(async () => (await reroll.outcomes(space, BAD)).some(({ state }) => state === 'retrying'));
  await refusal.end();
  await space.setData('ConfigMap/cm', { v: '3' });
  await inStep(space, BAD, ['ConfigMap/cm']);
  expect(await bad.now()).toBe(1);
});
