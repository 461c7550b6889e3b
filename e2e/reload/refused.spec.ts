import { beforeAll, expect, it } from 'vitest';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { refuseUpdates } from '../support/objects/policy.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, change, countRollouts, inStep, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const GOOD = ['good-0', 'good-1', 'good-2'];
const REFS = GOOD.map((name) => `Deployment/${name}`);
const BAD = 'Deployment/bad';

const REFUSALS = [
  { reason: 'Invalid', status: 422, attempts: 1 },
  { reason: 'Forbidden', status: 403, attempts: 3 },
] as const;

const spaces: Space[] = [];
let reroll: Reroll;

async function start(watched: readonly Space[], ...flags: readonly string[]): Promise<Reroll> {
  for (const space of watched) {
    await space.apply(configMap('cm', { v: '1' }));
    await space.applyAll(['bad', ...GOOD].map((name) => deployment(name, auto(), usingEnvFrom('cm'))));
  }
  const options = { cluster: sharedCluster(), namespaces: watched, sweepInterval: '1s', flags };
  const started = await startReroll(options);
  for (const space of watched) for (const ref of [BAD, ...REFS]) await inStep(space, ref, ['ConfigMap/cm']);
  return started;
}

beforeAll(async () => {
  for (let test = 0; test < 3; test += 1) spaces.push(await namespace(connect(sharedCluster())));
  reroll = await start([...spaces], '--attempts=3', '--backoff=100ms');
});

it.each(REFUSALS)(
  'a workload that the API server refuses as $reason harms no other, is told of by an Event, in the history, in the log, and is reloaded by the resync once it is taken',
  async ({ reason, status, attempts }) => {
    const space = spaces.pop() as Space;
    const [good, bad] = [await countRollouts(space, REFS), await RolloutCount.from(space, BAD)];
    const refusal = await refuseUpdates(space, { workloads: ['bad'], reason });
    await change(space, 'ConfigMap/cm', '2', REFS);
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
    const words = `failed with error ${reason}: KUBE_API ${status} ${reason}`;
    const event = await space.event(BAD, 'ReloadFail');
    expect(event.message).toBe(`Update for 'bad' of type 'Deployment' in namespace '${space.name}' ${words}`);
    expect(event.type).toBe('Warning');
    expect(reroll.logs()).toContain(words);
    expect(await good()).toEqual(GOOD.map(() => 1));
    expect(await bad.now()).toBe(0);

    // The resync reloads it, once, when the API server takes it again, without another change.
    await refusal.end();
    await inStep(space, BAD, ['ConfigMap/cm']);
    await settled(reroll, space);
    expect(await bad.now()).toBe(1);
  },
);

it('a refused workload is told of by an Event also when nobody but the resync asked for its reload', async () => {
  const space = spaces.pop() as Space;
  await reroll.idle();
  await refuseUpdates(space, { workloads: ['bad'], reason: 'Invalid' });
  await reroll.replace('watcher', async () => {
    await space.setData('ConfigMap/cm', { v: '2' });
    // As a resync would: nobody knows any more which change it was.
    await reroll.queues.enqueueReloads([{ workload: keyIn(space, BAD), since: Date.now() }]);
    await reroll.idle();
  });
  await space.event(BAD, 'ReloadFail');
});

it('a new change brings a refused workload forward from its back-off', async () => {
  const space = await namespace(connect(sharedCluster()));
  const own = await start([space], '--attempts=5', '--backoff=1h');
  const bad = await RolloutCount.from(space, BAD);
  const refusal = await refuseUpdates(space, { workloads: ['bad'], reason: 'Forbidden' });
  await space.setData('ConfigMap/cm', { v: '2' });
  await eventually(async () => (await own.outcomes(space, BAD)).some(({ state }) => state === 'retrying'));
  await refusal.end();
  await change(space, 'ConfigMap/cm', '3', [BAD]);
  expect(await bad.now()).toBe(1);
});
