import { beforeAll, describe, expect, it } from 'vitest';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { refuseUpdates } from '../support/objects/policy.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const GOOD = Array.from({ length: 20 }, (_, index) => `good-${index}`);
const BAD = 'Deployment/bad';

const REFUSALS = [
  { reason: 'Invalid', status: 422, attempts: 1 },
  { reason: 'Forbidden', status: 403, attempts: 3 },
] as const;

const spaces = new Map<string, Space>();
let reroll: Reroll;

async function spaceWith(...names: readonly string[]): Promise<Space> {
  const space = await namespace(connect(sharedCluster()));
  await space.apply(configMap('cm', { v: '1' }));
  await space.applyAll(names.map((name) => deployment(name, auto(), usingEnvFrom('cm'))));
  return space;
}

async function start(watched: readonly Space[], ...flags: readonly string[]): Promise<Reroll> {
  return await startReroll({ cluster: sharedCluster(), namespaces: watched, sweepInterval: '1s', flags });
}

beforeAll(async () => {
  for (const { reason } of REFUSALS) spaces.set(reason, await spaceWith(...GOOD, 'bad'));
  reroll = await start([...spaces.values()], '--attempts=3', '--backoff=100ms');
  for (const space of spaces.values())
    for (const name of [...GOOD, 'bad']) await inStep(space, `Deployment/${name}`, ['ConfigMap/cm']);
});

describe.each(REFUSALS)(
  'a workload that the API server refuses as $reason',
  ({ reason, status, attempts }) => {
    it('harms none of 20 others, is told of by an Event, in the history, in the log, and is rolled by the resync once it is taken', async () => {
      const space = spaces.get(reason) as Space;
      const refs = GOOD.map((name) => `Deployment/${name}`);
      const counts = await Promise.all(refs.map((ref) => RolloutCount.from(space, ref)));
      const bad = await RolloutCount.from(space, BAD);
      const refusal = await refuseUpdates(space, { workloads: ['bad'], reason });
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

      // The resync rolls it, once, when the API server takes it again, without another change.
      await refusal.end();
      await inStep(space, BAD, ['ConfigMap/cm']);
      await settled(reroll, space);
      expect(await bad.now()).toBe(1);
    });
  },
);

it('a refused workload is told of by an Event also when nobody but the resync asked for its reload', async () => {
  const space = await spaceWith('bad');
  const own = await start([space]);
  await inStep(space, BAD, ['ConfigMap/cm']);
  await own.idle();
  await refuseUpdates(space, { workloads: ['bad'], reason: 'Invalid' });
  await Promise.all(own.watchers.map((watcher) => watcher.stop()));
  await space.setData('ConfigMap/cm', { v: '2' });
  // As a resync would: nobody knows any more which change it was.
  await own.queues.enqueueReloads([{ workload: keyIn(space, BAD), since: Date.now() }]);
  await own.idle();
  await own.start('watcher').ready();
  await eventually(async () => (await space.events(BAD)).some((event) => event.reason === 'ReloadFail'));
});

it('a new change brings a refused workload forward from its back-off', async () => {
  const space = await spaceWith('bad');
  const own = await start([space], '--attempts=5', '--backoff=1h');
  await inStep(space, BAD, ['ConfigMap/cm']);
  const bad = await RolloutCount.from(space, BAD);
  const refusal = await refuseUpdates(space, { workloads: ['bad'], reason: 'Forbidden' });
  await space.setData('ConfigMap/cm', { v: '2' });
  await eventually(async () => (await own.outcomes(space, BAD)).some(({ state }) => state === 'retrying'));
  await refusal.end();
  await space.setData('ConfigMap/cm', { v: '3' });
  await inStep(space, BAD, ['ConfigMap/cm']);
  expect(await bad.now()).toBe(1);
});
