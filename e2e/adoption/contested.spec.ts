import { expect, it } from 'vitest';
import { RELEASE_ANNOTATION } from '@reroll/core/state/workloads/conflict';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { pointer, type PatchOperation } from '@reroll/core/reload/json-patch';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type KubeObject, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { change, countRollouts, inStep, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const CM = ['ConfigMap/cm'];
const [TEMPLATE, BOTH, BYSTANDER] = [
  'Deployment/template',
  'Deployment/both',
  'Deployment/bystander',
] as const;
const REFS = [TEMPLATE, BOTH, BYSTANDER];

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

/** What the leader says by its metric, from the next resync on. */
async function contestedAre(reroll: Reroll, count: number): Promise<void> {
  await eventually(async () =>
    (await (await reroll.leader()).metrics()).includes(`\nreroll_contested_workloads ${count}\n`),
  );
}

it('a marker taken away three times in ten minutes ends the reloads, until a release or an edit', async () => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  const reroll = await startReroll({ cluster, namespaces: [space], sweepInterval: '1s' });
  await space.apply(configMap('cm', { v: '0' }));
  await space.applyAll(REFS.map((ref) => deployment(ref.slice(11), auto(), usingEnvFrom('cm'))));
  for (const ref of REFS) await inStep(space, ref, CM);
  const [template, both] = [await space.get(TEMPLATE), await space.get(BOTH)];
  const rollouts = await countRollouts(space, REFS);

  for (const value of ['1', '2', '3']) {
    await change(space, 'ConfigMap/cm', value, REFS);
    await strip(space, template);
    await strip(space, both);
    await settled(reroll, space);
  }
  expect(await rollouts()).toEqual([6, 6, 3]);
  for (const ref of [TEMPLATE, BOTH]) {
    const event = await space.event(ref, 'Contested');
    expect(event.type).toBe('Warning');
    expect(event.message).toContain(RELEASE_ANNOTATION);
  }

  await contestedAre(reroll, 2);
  await change(space, 'ConfigMap/cm', '4', [BYSTANDER]);
  await settled(reroll, space);
  expect(await rollouts()).toEqual([6, 6, 4]);
  const outcome = await eventually(async () => (await reroll.outcomes(space, TEMPLATE)).at(-1));
  expect(outcome).toMatchObject({ state: 'unchanged', reason: 'Contested', rolled: [] });

  // What was pending by then is reloaded.
  await space.annotate(TEMPLATE, { [RELEASE_ANNOTATION]: '1' });
  await inStep(space, TEMPLATE, CM);
  // The owner's own rollout has brought the data: only the record is written.
  const labels = { app: 'both', edited: 'true' };
  await space.patch(BOTH, { spec: { template: { metadata: { labels } } } });
  await inStep(space, BOTH, CM);
  expect(await rollouts()).toEqual([7, 7, 4]);

  await contestedAre(reroll, 0);
  await change(space, 'ConfigMap/cm', '5', REFS);
  await settled(reroll, space);
  expect(await rollouts()).toEqual([8, 8, 5]);
  const reasons = (await space.events(BYSTANDER)).map(({ reason }) => reason);
  expect(reasons).not.toContain('Contested');
});
