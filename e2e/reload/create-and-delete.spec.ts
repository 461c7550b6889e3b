import { beforeAll, describe, expect, it } from 'vitest';
import { envVarName } from '@reroll/core/marker/env-var-name';
import { LAST_RELOADED_FROM, lastReloadedFrom } from '@reroll/core/marker/last-reloaded-from';
import { DELETED_MARKER_HASH, markerHash } from '@reroll/core/marker/marker-hash';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { DELETED_HASH } from '@reroll/core/record/record-hash';
import {
  argoRollout,
  auto,
  configMap,
  cronJob,
  deployment,
  job,
  naming,
  podAnnotated,
  secret,
  source,
  usingEnvFrom,
  variable,
  type Builder,
  type Modifier,
} from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { installCrd, removeCrd } from '../support/objects/crds.ts';
import { connect, namespace, type KubeObject, type Ref, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import {
  RolloutCount,
  inStep,
  markerAnnotation,
  markerVariables,
  recordOf,
  settled,
} from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

type Strategy = 'env-vars' | 'annotations';
const DATA = { v: '1' };
const TRIGGERS = ['--reload-on-create=True', '--reload-on-delete', 'true'];
/** They are reloaded otherwise than Deployments, or have their template elsewhere. */
const OTHER_KINDS: Readonly<Record<string, Builder>> = { CronJob: cronJob, Job: job, Rollout: argoRollout };

beforeAll(async () => {
  const client = connect(sharedCluster());
  await installCrd(client, 'Rollout');
  cleanUp(() => removeCrd(client, 'Rollout'));
});

/** The Job that a CronJob's template is of. */
function jobOf(object: KubeObject): KubeObject {
  const { jobTemplate } = object.spec as unknown as { jobTemplate: { spec: KubeObject['spec'] } };
  return { ...object, spec: jobTemplate.spec };
}

/** What the pod template says of a ConfigMap: a hash, or nothing. */
function markedWith(object: KubeObject, name: string, strategy: Strategy): string | undefined {
  if (strategy === 'env-vars') return markerVariables(object)['app']?.[envVarName('ConfigMap', name)];
  const marker = markerAnnotation(object);
  return marker?.name === name ? marker.hash : undefined;
}

async function recordedAsDeleted(space: Space, workload: Ref, source: string): Promise<KubeObject> {
  return await eventually(async () => {
    const object = await space.get(workload);
    expect(recordOf(object)[`ConfigMap/${source}`]).toBe(DELETED_HASH);
    return object;
  });
}

describe.each<Strategy>(['env-vars', 'annotations'])(
  '--reload-on-create and --reload-on-delete under the strategy %s',
  (strategy) => {
    let space: Space;
    let reroll: Reroll;

    /** A workload that is known, and rolled before, so that it carries the marker of its source. */
    async function rolledBefore(name: string): Promise<RolloutCount> {
      await space.apply(configMap(name, { v: '0' }), deployment(name, auto(), usingEnvFrom(name)));
      await inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`]);
      await space.setData(`ConfigMap/${name}`, DATA);
      await inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`]);
      return await RolloutCount.from(space, `Deployment/${name}`);
    }

    beforeAll(async () => {
      const cluster = sharedCluster();
      space = await namespace(connect(cluster));
      const flags = [...TRIGGERS, `--reload-strategy=${strategy}`];
      const watcherFlags = ['--is-argo-rollouts=true', '--discovery-interval=200ms'];
      reroll = await startReroll({ cluster, namespaces: [space], flags, watcherFlags });
    });

    it.each<[string, string, Modifier[]]>([
      ['uses', 'used', [auto(), usingEnvFrom('used-base'), usingEnvFrom('used')]],
      ['names', 'named', [naming('named-base'), naming('named-base,named')]],
      ['names by pattern', 'pattern', [naming('pattern(-base)?')]],
    ])(
      'a ConfigMap that a workload %s and that comes to exist rolls it once',
      async (_how, name, modifiers) => {
        const workload = `Deployment/${name}`;
        await space.apply(configMap(`${name}-base`, DATA), deployment(name, ...modifiers));
        await inStep(space, workload, [`ConfigMap/${name}-base`]);
        const rollouts = await RolloutCount.from(space, workload);
        await space.apply(configMap(name, DATA));
        const now = await inStep(space, workload, [`ConfigMap/${name}`]);
        await settled(reroll, space);
        expect(await rollouts.now()).toBe(1);
        expect(markedWith(now, name, strategy)).toBe(markerHash('ConfigMap', { data: DATA }));
      },
    );

    it('a ConfigMap that goes rolls once, and when it comes back as it was, once more', async () => {
      const rollouts = await rolledBefore('flip');
      await space.delete('ConfigMap/flip');
      const without = await recordedAsDeleted(space, 'Deployment/flip', 'flip');
      expect(markedWith(without, 'flip', strategy)).toBe(
        strategy === 'env-vars' ? undefined : DELETED_MARKER_HASH,
      );
      await settled(reroll, space);
      expect(await rollouts.now()).toBe(1);
      await space.apply(configMap('flip', DATA));
      const back = await inStep(space, 'Deployment/flip', ['ConfigMap/flip']);
      expect(markedWith(back, 'flip', strategy)).toBe(markerHash('ConfigMap', { data: DATA }));
      await settled(reroll, space);
      expect(await rollouts.now()).toBe(2);
    });

    it('a ConfigMap that goes while no watcher is there rolls once', async () => {
      const rollouts = await rolledBefore('down');
      await reroll.idle();
      await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
      await space.delete('ConfigMap/down');
      await reroll.start('watcher').ready();
      await recordedAsDeleted(space, 'Deployment/down', 'down');
      await settled(reroll, space);
      expect(await rollouts.now()).toBe(1);
    });

    it('a workload that was never rolled for the ConfigMap that goes is rolled only if there is a way to tell', async () => {
      await space.apply(configMap('never', DATA), deployment('never', auto(), usingEnvFrom('never')));
      await inStep(space, 'Deployment/never', ['ConfigMap/never']);
      const rollouts = await RolloutCount.from(space, 'Deployment/never');
      await space.delete('ConfigMap/never');
      if (strategy === 'annotations') await recordedAsDeleted(space, 'Deployment/never', 'never');
      await settled(reroll, space);
      expect(await rollouts.now()).toBe(strategy === 'annotations' ? 1 : 0);
      await space.apply(configMap('never', { v: '2' }));
      await inStep(space, 'Deployment/never', ['ConfigMap/never']);
      await settled(reroll, space);
      expect(await rollouts.now()).toBe(strategy === 'annotations' ? 2 : 1);
    });

    it('a source that is deleted as soon as its workload is created rolls it once, if there is a way to tell', async () => {
      const [names, uses] = ['brief-names', 'brief-uses'];
      await space.apply(configMap(names, DATA), secret(uses, DATA));
      await space.apply(
        deployment(names, naming(names)),
        deployment(uses, auto(), usingEnvFrom(`Secret/${uses}`)),
      );
      const refs = [`Deployment/${names}`, `Deployment/${uses}`];
      const counts = await Promise.all(refs.map((ref) => RolloutCount.from(space, ref)));
      await space.delete(`ConfigMap/${names}`);
      await space.delete(`Secret/${uses}`);
      if (strategy === 'annotations') {
        await recordedAsDeleted(space, `Deployment/${names}`, names);
        await eventually(async () =>
          expect(recordOf(await space.get(`Deployment/${uses}`))[`Secret/${uses}`]).toBe(DELETED_HASH),
        );
      }
      await settled(reroll, space);
      const expected = strategy === 'annotations' ? 1 : 0;
      expect(await Promise.all(counts.map((count) => count.now()))).toEqual([expected, expected]);
    });

    it('a ConfigMap that goes and comes back reloads a CronJob, a Job and a Rollout once each time', async () => {
      const kinds = Object.keys(OTHER_KINDS);
      await Promise.all(kinds.map((kind) => goesAndComesBack(kind, kind.toLowerCase())));
      await areReloadedThrice(kinds.map((kind): Ref => `${kind}/${kind.toLowerCase()}`));
    });

    it('and with --cronjob-strategy=patch, so the template of a CronJob has the marker of what is there', async () => {
      await settled(reroll, space);
      await Promise.all(reroll.workers.map((worker) => worker.stop()));
      reroll.start('worker', ['--cronjob-strategy=patch']);
      await reroll.ready();
      await goesAndComesBack('CronJob', 'patched');
      await areReloadedThrice(['CronJob/patched']);
    });

    async function goesAndComesBack(kind: string, name: string): Promise<void> {
      const ref: Ref = `${kind}/${name}`;
      const builder = OTHER_KINDS[kind] as Builder;
      // A Job that is run of a CronJob leaves no marker in its template: without one there is nothing to take away.
      const marked = kind === 'CronJob' ? [variable(envVarName('ConfigMap', name), 'before')] : [];
      await space.apply(configMap(name, { v: '0' }), builder(name, auto(), usingEnvFrom(name), ...marked));
      await inStep(space, ref, [`ConfigMap/${name}`]);
      await space.setData(`ConfigMap/${name}`, DATA);
      await inStep(space, ref, [`ConfigMap/${name}`]);
      await space.delete(`ConfigMap/${name}`);
      await recordedAsDeleted(space, ref, name);
      expect(await markerOfLast(ref)).toBe(strategy === 'env-vars' ? undefined : DELETED_MARKER_HASH);
      await space.apply(configMap(name, DATA));
      await inStep(space, ref, [`ConfigMap/${name}`]);
      expect(await markerOfLast(ref)).toBe(markerHash('ConfigMap', { data: DATA }));
    }

    async function areReloadedThrice(refs: readonly Ref[]): Promise<void> {
      await settled(reroll, space);
      for (const ref of refs) {
        const reloads = async (): Promise<number> =>
          (await reroll.outcomes(space, ref)).filter(({ state }) => state === 'reloaded').length;
        await eventually(async () => (await reloads()) === 3, { what: `three reloads of ${ref}` });
      }
    }

    /** Of the workload or, if it is a CronJob that was run, of the Job that stands for its record. */
    async function markerOfLast(ref: Ref): Promise<string | undefined> {
      const object = await space.get(ref);
      const record = object.metadata.annotations?.[RECORD_ANNOTATION];
      const run = (await space.list('Job')).find(
        ({ metadata }) =>
          metadata.annotations?.[RECORD_ANNOTATION] === record &&
          metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid),
      );
      const inTemplate = ref.startsWith('CronJob/') ? jobOf(object) : object;
      return markedWith(run ?? inTemplate, object.metadata.name, strategy);
    }
  },
);

it('--sync-after-restart rolls once what has neither record nor marker of what exists, and nothing at the next start', async () => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  const hash = markerHash('ConfigMap', { data: DATA });
  const from = { kind: 'ConfigMap', namespace: space.name, name: 'cm', hash } as const;
  const annotation = lastReloadedFrom({ ...from, containerRefs: ['app'], observedAt: 1 });
  const uses = [auto(), usingEnvFrom('cm')];
  await space.apply(
    configMap('cm', DATA),
    deployment('by-variable', ...uses, variable(envVarName('ConfigMap', 'cm'), hash)),
    deployment('by-annotation', ...uses, podAnnotated({ [LAST_RELOADED_FROM]: annotation })),
    deployment('bare', ...uses),
    cronJob('report', ...uses),
    job('task', ...uses),
  );
  const task = await space.get('Job/task');
  /** How many Jobs the CronJob has. */
  const runs = async (): Promise<number> =>
    (await space.list('Job')).filter(({ metadata }) => metadata.ownerReferences?.length === 1).length;
  const refs = ['Deployment/by-variable', 'Deployment/by-annotation', 'Deployment/bare'];
  const counts = await Promise.all(refs.map((ref) => RolloutCount.from(space, ref)));
  const flags = ['--reload-on-create=true', '--sync-after-restart'];
  const reroll = await startReroll({ cluster, namespaces: [space], flags });
  for (const ref of [...refs, 'CronJob/report', 'Job/task']) await inStep(space, ref, ['ConfigMap/cm']);
  await settled(reroll, space);
  const recreated = (await space.get('Job/task')).metadata.uid;
  expect(recreated).not.toBe(task.metadata.uid);
  await isOnce();
  await Promise.all(reroll.watchers.map((watcher) => watcher.stop()));
  await reroll.start('watcher').ready();
  await settled(reroll, space);
  await isOnce();

  async function isOnce(): Promise<void> {
    expect(await Promise.all(counts.map((count) => count.now()))).toEqual([0, 0, 1]);
    expect(await runs()).toBe(1);
    expect((await space.get('Job/task')).metadata.uid).toBe(recreated);
  }
});

describe('--resources-to-ignore', () => {
  it.each([
    ['secrets', 'ConfigMap'],
    ['configmaps', 'Secret'],
  ])('%s switches creations and deletions of the others not off: %s', async (ignored, kind) => {
    const cluster = sharedCluster();
    const space = await namespace(connect(cluster));
    const flags = [`--resources-to-ignore=${ignored}`, '--reload-on-create=true', '--reload-on-delete=true'];
    await startReroll({ cluster, namespaces: [space], flags });
    const [base, coming] = [`${kind}/base`, `${kind}/coming`];
    await space.apply(
      source(base, DATA),
      deployment('web', auto(), usingEnvFrom(base), usingEnvFrom(coming)),
    );
    await inStep(space, 'Deployment/web', [base]);
    const rollouts = await RolloutCount.from(space, 'Deployment/web');
    await space.apply(source(coming, DATA));
    await inStep(space, 'Deployment/web', [coming]);
    expect(await rollouts.now()).toBe(1);
    await space.delete(coming);
    await eventually(async () => recordOf(await space.get('Deployment/web'))[coming] === DELETED_HASH);
    expect(await rollouts.now()).toBe(2);
  });
});

it('with --reload-on-create and several namespaces, what the first lists hold is no creation', async () => {
  const cluster = sharedCluster();
  const spaces = [await namespace(connect(cluster)), await namespace(connect(cluster))];
  const used = ['ConfigMap/cm', 'Secret/keys'];
  const counts: RolloutCount[] = [];
  for (const space of spaces) {
    await space.apply(deployment('web', auto(), ...used.map((ref) => usingEnvFrom(ref))));
    await space.apply(...used.map((ref) => source(ref, DATA)));
    counts.push(await RolloutCount.from(space, 'Deployment/web'));
  }
  const reroll = await startReroll({ cluster, namespaces: spaces, flags: ['--reload-on-create=true'] });
  for (const space of spaces) {
    await inStep(space, 'Deployment/web', used);
    await settled(reroll, space);
  }
  expect(await Promise.all(counts.map((count) => count.now()))).toEqual([0, 0]);
});
