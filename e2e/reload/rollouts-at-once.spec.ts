import { expect, it } from 'vitest';
import { QUICK_LEASE } from '../faults/support/settings.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace } from '../support/kube.ts';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { hashOf, inStep, recordOf } from '../support/objects/rollouts.ts';
import { startReroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

const AT_ONCE = 3;
const NAMES = Array.from({ length: 9 }, (_, at) => `w${at}`);

it('no more workloads are rolled out at once than allowed, though everything is killed and Redis emptied', async () => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  const reroll = await startReroll({
    cluster,
    namespaces: [space],
    watchers: 2,
    workers: 2,
    debounce: '0',
    flags: [`--max-concurrent-rollouts=${AT_ONCE}`],
    watcherFlags: QUICK_LEASE,
  });
  await space.apply(configMap('cm', { v: '1' }));
  for (const name of NAMES) await space.apply(deployment(name, auto(), usingEnvFrom('cm')));
  for (const name of NAMES) await inStep(space, `Deployment/${name}`, ['ConfigMap/cm']);
  // Their pods never start, so their rollouts last until they are scaled down.
  const nowhere = { spec: { replicas: 1, template: { spec: { nodeSelector: { e2e: 'nowhere' } } } } };
  for (const name of NAMES) await space.patch(`Deployment/${name}`, nowhere);
  await space.setData('ConfigMap/cm', { v: '2' });
  const wanted = hashOf(await space.get('ConfigMap/cm'));
  const done = new Set<string>();
  let most = 0;
  let wasKilled = false;
  await eventually(
    async () => {
      const objects = await space.list('Deployment');
      const reloaded = objects.filter((object) => recordOf(object)['ConfigMap/cm'] === wanted);
      const underWay = reloaded.map(({ metadata }) => metadata.name).filter((name) => !done.has(name));
      most = Math.max(most, underWay.length);
      if (!wasKilled && reloaded.length >= 5) {
        wasKilled = true;
        for (const process of [...reroll.watchers, ...reroll.workers]) await process.kill('SIGKILL');
        await reroll.redis.flushall();
        reroll.start('watcher');
        reroll.start('worker');
      }
      const [first] = underWay;
      if (first !== undefined && (underWay.length === AT_ONCE || reloaded.length === NAMES.length)) {
        done.add(first);
        await space.patch(`Deployment/${first}`, { spec: { replicas: 0 } });
      }
      return done.size === NAMES.length;
    },
    { within: 180_000 },
  );
  expect([most, wasKilled]).toEqual([AT_ONCE, true]);
  const events = await Promise.all(NAMES.map((name) => space.events(`Deployment/${name}`)));
  expect(events.flat().map(({ reason }) => reason)).toContain('AwaitsRollouts');
});
