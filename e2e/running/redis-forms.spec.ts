import { expect, it } from 'vitest';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { REDIS_FORMS, refusedAll, type FormName } from '../support/redis/redis-forms.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { inStep, RolloutCount, settled } from '../support/objects/rollouts.ts';

const NAMES = ['one', 'two', 'three', 'four'] as const;

async function changeAll(space: Space, v: string, names: readonly string[] = NAMES): Promise<void> {
  await Promise.all(names.map((name) => space.setData(`ConfigMap/${name}`, { v })));
}

async function allInStep(space: Space): Promise<void> {
  for (const name of NAMES) await inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`]);
}

/** How often each was reloaded for this change; the change itself is part of what is done meanwhile. */
async function rolledBy(reroll: Reroll, space: Space, change: () => Promise<void>): Promise<number[]> {
  const counts = await Promise.all(NAMES.map((name) => RolloutCount.from(space, `Deployment/${name}`)));
  await change();
  await allInStep(space);
  await settled(reroll, space);
  return await Promise.all(counts.map((count) => count.now()));
}

const ONCE = NAMES.map(() => 1);

it.each<FormName>(['TLS', 'Sentinel', 'Cluster'])(
  '%s: a change reloads once, also while Redis goes away and comes back; who may not get in says why and no password',
  async (name) => {
    const cluster = sharedCluster();
    const form = await REDIS_FORMS[name]();
    const space = await namespace(connect(cluster));
    await space.apply(
      ...NAMES.flatMap((each) => [configMap(each, { v: '0' }), deployment(each, auto(), usingEnvFrom(each))]),
    );
    const reroll = await startReroll({
      cluster,
      namespaces: [space],
      redisEnv: form.env,
      sweepInterval: '500ms',
      workerFlags: ['--stalled-lock=2s', '--max-reloads-per-minute=6000'],
      flags: ['--log-level=trace'],
    });
    await allInStep(space);

    expect(await rolledBy(reroll, space, () => changeAll(space, '1'))).toEqual(ONCE);
    const interrupted = await rolledBy(reroll, space, async () => {
      const changing = changeAll(space, '2', NAMES.slice(0, 2));
      await Promise.all([changing, form.interrupt(reroll.catalog.keys.prefix)]);
      await changeAll(space, '2', NAMES.slice(2));
    });
    expect(interrupted).toEqual(ONCE);

    await refusedAll(reroll, form);
    await reroll.stop();
    for (const secret of form.secrets) expect(reroll.logs()).not.toContain(secret);
  },
);
