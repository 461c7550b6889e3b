import { expect, test } from 'vitest';
import { connect, namespace } from '../support/kube.ts';
import { REDIS_FORMS, type RedisForm } from '../support/redis/redis-forms.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { mendedCluster } from './support/cluster.ts';
import { Fleet } from './support/fleet.ts';
import { QUICK_LOCK, QUICK_RESYNC } from './support/settings.ts';

async function startWith(form: RedisForm): Promise<{ fleet: Fleet; reroll: Reroll }> {
  const cluster = await mendedCluster();
  const space = await namespace(connect(cluster));
  const fleet = await Fleet.create(space);
  const reroll = await startReroll({
    cluster,
    namespaces: [space],
    watchers: 2,
    workers: 2,
    redisEnv: form.env,
    debounce: '200ms',
    sweepInterval: QUICK_RESYNC,
    workerFlags: QUICK_LOCK,
  });
  await fleet.adopted();
  return { fleet, reroll };
}

test('a failover by Sentinels loses what was acknowledged last in the middle of 200 changes', async () => {
  const form = await REDIS_FORMS.Sentinel();
  const { fleet, reroll } = await startWith(form);

  await fleet.inTheMiddle(async (changeTheRest) => {
    let changing: Promise<void> | undefined;
    await form.failOverWithout(async () => {
      changing = changeTheRest();
      await fleet.rolled(fleet.rolledNow + 20);
    });
    await changing;
  });

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
  await fleet.change();
  await fleet.settled(reroll);
});

test('the keys move to another server of a Cluster in the middle of 200 changes', async () => {
  const form = await REDIS_FORMS.Cluster();
  const { fleet, reroll } = await startWith(form);

  await fleet.inTheMiddle(async (changeTheRest) => {
    await Promise.all([form.moveKeys(reroll.catalog.keys.prefix), changeTheRest()]);
  });

  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});
