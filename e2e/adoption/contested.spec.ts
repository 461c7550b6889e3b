import { expect, it } from 'vitest';
import { RELEASE_ANNOTATION } from '@reroll/core/state/workloads/conflict';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { pointer, type PatchOperation } from '@reroll/core/reload/json-patch';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type KubeObject, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const CM = ['ConfigMap/cm'];
const NAMES = ['template', 'both', 'bystander'] as const;

/** Puts the pod template back, as a controller does that knows no marker; of `both` it takes the record as well. */
async function strip(space: Space, before: KubeObject): Promise<void> {
  const { name } = before.metadata;
  const record = pointer('/metadata/annotations', RECORD_ANNOTATION);
  const operations: PatchOperation[] = [
    { op: 'replace', path: '/spec/template', value: before.spec.template },
    ...(name === 'both' ? [{ op: 'remove', path: record } as const] : []),
  ];
  await space.client.patch(space.path(`Deployment/${name}`), operations);
}

async function changeAll(space: Space, value: string, names: readonly string[]): Promise<void> {
  await space.setData('ConfigMap/cm', { v: value });
  for (const name of names) await inStep(space, `Deployment/${name}`, CM);
}

/** What the leader says by its metric, from the next resync on. */
async function contestedAre(reroll: Reroll, count: number): Promise<void> {
  await eventually(async () =>
    (await (await reroll.leader()).metrics()).includes(`\nreroll_contested_workloads ${count}\n`),
  );
}

it('a marker taken away three times in ten minutes ends the reloads, until a release or an edit', async () => {
  const space = await namespace(connect(sharedCluster()));
  await space.apply(configMap('cm', { v: '0' }));
  await space.applyAll(NAMES.map((name) => deployment(name, auto(), usingEnvFrom('cm'))));
  const reroll = await startReroll({
    cluster: sharedCluster(),
    namespaces: [space],
    sweepInterval: '1s',
  });
  for (const name of NAMES) await inStep(space, `Deployment/${name}`, CM);
  const before = await Promise.all(NAMES.map((name) => space.get(`Deployment/${name}`)));
  const [template, both] = before as [KubeObject, KubeObject, KubeObject];
  const counts = await Promise.all(NAMES.map((name) => RolloutCount.from(space, `Deployment/${name}`)));
  const rollouts = async (): Promise<number[]> => await Promise.all(counts.map((count) => count.now()));

  for (const value of ['1', '2', '3']) {
    await changeAll(space, value, NAMES);
    await strip(space, template);
    await strip(space, both);
    await settled(reroll, space);
  }
  expect(await rollouts()).toEqual([6, 6, 3]);
  for (const name of ['template', 'both']) {
    const event = await eventually(async () =>
      (await space.events(`Deployment/${name}`)).find(({ reason }) => reason === 'Contested'),
    );
    expect(event.type).toBe('Warning');
    expect(event.message).toContain(RELEASE_ANNOTATION);
  }

  await contestedAre(reroll, 2);
  await changeAll(space, '4', ['bystander']);
  await settled(reroll, space);
  expect(await rollouts()).toEqual([6, 6, 4]);
  const outcome = await eventually(async () => (await reroll.outcomes(space, 'Deployment/template')).at(-1));
  expect(outcome).toMatchObject({ state: 'unchanged', reason: 'Contested', rolled: [] });

  // What was pending by then is rolled.
  await space.annotate('Deployment/template', { [RELEASE_ANNOTATION]: '1' });
  await inStep(space, 'Deployment/template', CM);
  // The owner's own rollout has brought the data: only the record is written.
  const labels = { app: 'both', edited: 'true' };
  await space.patch('Deployment/both', { spec: { template: { metadata: { labels } } } });
  await inStep(space, 'Deployment/both', CM);
  expect(await rollouts()).toEqual([7, 7, 4]);

  await contestedAre(reroll, 0);
  await changeAll(space, '5', NAMES);
  await settled(reroll, space);
  expect(await rollouts()).toEqual([8, 8, 5]);
  expect((await space.events('Deployment/bystander')).filter(({ reason }) => reason === 'Contested')).toEqual(
    [],
  );
});
