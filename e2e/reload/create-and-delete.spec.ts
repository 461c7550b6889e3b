import { beforeAll, describe, expect, it } from 'vitest';
import { envVarName } from '@reroll/core/marker/env-var-name';
import { LAST_RELOADED_FROM, lastReloadedFrom } from '@reroll/core/marker/last-reloaded-from';
import { markerHash } from '@reroll/core/marker/marker-hash';
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
  usingEnvFrom,
  variable,
  type Builder,
} from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { installCrd, removeCrd } from '../support/objects/crds.ts';
import { connect, namespace, type KubeObject, type Ref, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import {
  adopted,
  change,
  countRollouts,
  inStep,
  markerVariables,
  recordOf,
  settled,
} from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const DATA = { v: '1' };
const HASH = markerHash('ConfigMap', { data: DATA });
/** Patched, run, created again, and patched where an optional kind has its template. */
const KINDS: Readonly<Record<string, Builder>> = {
  Deployment: deployment,
  CronJob: cronJob,
  Job: job,
  Rollout: argoRollout,
};

describe('--reload-on-create and --reload-on-delete', () => {
  let space: Space;
  /** With what is in it before the install comes. */
  let listed: Space;
  let reroll: Reroll;
  let ofListed: () => Promise<number[]>;

  beforeAll(async () => {
    const cluster = sharedCluster();
    [space, listed] = [await namespace(connect(cluster)), await namespace(connect(cluster))];
    await installCrd(space.client, 'Rollout');
    cleanUp(() => removeCrd(space.client, 'Rollout'));
    await listed.apply(
      deployment('web', auto(), usingEnvFrom('cm'), usingEnvFrom('Secret/keys')),
      configMap('cm', DATA),
      secret('keys', DATA),
    );
    ofListed = await countRollouts(listed, ['Deployment/web']);
    reroll = await startReroll({
      cluster,
      namespaces: [space, listed],
      flags: ['--reload-on-create=True', '--reload-on-delete', 'true'],
      watcherFlags: ['--is-argo-rollouts=true', '--discovery-interval=200ms'],
    });
  });

  async function isRecordedAsDeleted(ref: Ref, name: string): Promise<void> {
    await eventually(async () => recordOf(await space.get(ref))[`ConfigMap/${name}`] === DELETED_HASH);
  }

  it('what the first lists hold is no creation', async () => {
    await inStep(listed, 'Deployment/web', ['ConfigMap/cm', 'Secret/keys']);
    await settled(reroll, listed);
    expect(await ofListed()).toEqual([0]);
  });

  it('a ConfigMap that workloads use or name by a pattern, and that comes to exist, reloads each once', async () => {
    const refs = ['Deployment/uses', 'Deployment/names'];
    await space.apply(
      configMap('new-base', DATA),
      deployment('uses', auto(), usingEnvFrom('new-base'), usingEnvFrom('new')),
      deployment('names', naming('new(-base)?')),
    );
    for (const ref of refs) await inStep(space, ref, ['ConfigMap/new-base']);
    const rollouts = await countRollouts(space, refs);
    await space.apply(configMap('new', DATA));
    for (const ref of refs) {
      const now = await inStep(space, ref, ['ConfigMap/new']);
      expect(markerVariables(now)['app']?.[envVarName('ConfigMap', 'new')]).toBe(HASH);
    }
    await settled(reroll, space);
    expect(await rollouts()).toEqual([1, 1]);
  });

  it('a ConfigMap that goes and comes back as it was reloads a workload of each kind once each time', async () => {
    const kinds = Object.keys(KINDS);
    await Promise.all(kinds.map(goesAndComesBack));
    await settled(reroll, space);
    for (const kind of kinds)
      await eventually(async () => {
        const outcomes = await reroll.outcomes(space, `${kind}/${kind.toLowerCase()}`);
        const reloads = outcomes.filter(({ state }) => state === 'reloaded');
        expect(reloads, `outcomes of the ${kind}: ${JSON.stringify(outcomes)}`).toHaveLength(3);
        return true;
      });
  });

  async function goesAndComesBack(kind: string): Promise<void> {
    const name = kind.toLowerCase();
    const ref = `${kind}/${name}`;
    // A Job that is run of a CronJob leaves no marker in its template: without one there is nothing to take away.
    const marked = kind === 'CronJob' ? [variable(envVarName('ConfigMap', name), 'before')] : [];
    const build = KINDS[kind] as Builder;
    await space.apply(configMap(name, { v: '0' }), build(name, auto(), usingEnvFrom(name), ...marked));
    await inStep(space, ref, [`ConfigMap/${name}`]);
    await change(space, `ConfigMap/${name}`, '1', [ref]);
    await space.delete(`ConfigMap/${name}`);
    await isRecordedAsDeleted(ref, name);
    expect(await markerOfLast(ref, name)).toBeUndefined();
    await space.apply(configMap(name, DATA));
    await inStep(space, ref, [`ConfigMap/${name}`]);
    expect(await markerOfLast(ref, name)).toBe(HASH);
  }

  /** Of the workload or, if it is a CronJob, of the Job that stands for its record. */
  async function markerOfLast(ref: Ref, name: string): Promise<string | undefined> {
    const object = await space.get(ref);
    const record = object.metadata.annotations?.[RECORD_ANNOTATION];
    const isRun = ({ metadata }: KubeObject): boolean =>
      metadata.annotations?.[RECORD_ANNOTATION] === record &&
      metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid) === true;
    const marked = ref.startsWith('CronJob/') ? (await space.list('Job')).find(isRun) : object;
    return markerVariables(marked as KubeObject)['app']?.[envVarName('ConfigMap', name)];
  }

  it('a ConfigMap that goes while no watcher is there reloads who has its marker, and nobody else', async () => {
    for (const name of ['marked', 'never']) await adopted(space, name);
    await change(space, 'ConfigMap/marked', '2', ['Deployment/marked']);
    const rollouts = await countRollouts(space, ['Deployment/marked', 'Deployment/never']);
    await reroll.idle();
    await reroll.replace('watcher', async () => {
      for (const name of ['marked', 'never']) await space.delete(`ConfigMap/${name}`);
    });
    await isRecordedAsDeleted('Deployment/marked', 'marked');
    await settled(reroll, space);
    expect(await rollouts()).toEqual([1, 0]);
    await space.apply(configMap('never', { v: '2' }));
    await inStep(space, 'Deployment/never', ['ConfigMap/never']);
    await settled(reroll, space);
    expect(await rollouts()).toEqual([1, 1]);
  });
});

it('--sync-after-restart reloads once what has neither record nor marker of what exists, and nothing at the next start', async () => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  const from = { kind: 'ConfigMap', namespace: space.name, name: 'cm', hash: HASH } as const;
  const annotation = lastReloadedFrom({ ...from, containerRefs: ['app'], observedAt: 1 });
  const uses = [auto(), usingEnvFrom('cm')];
  await space.apply(
    configMap('cm', DATA),
    deployment('by-variable', ...uses, variable(envVarName('ConfigMap', 'cm'), HASH)),
    deployment('by-annotation', ...uses, podAnnotated({ [LAST_RELOADED_FROM]: annotation })),
    deployment('bare', ...uses),
    cronJob('report', ...uses),
    job('task', ...uses),
  );
  const before = (await space.get('Job/task')).metadata.uid;
  const refs = ['Deployment/by-variable', 'Deployment/by-annotation', 'Deployment/bare'];
  const rollouts = await countRollouts(space, refs);
  const flags = ['--reload-on-create=true', '--sync-after-restart'];
  const reroll = await startReroll({ cluster, namespaces: [space], flags });
  for (const ref of [...refs, 'CronJob/report', 'Job/task']) await inStep(space, ref, ['ConfigMap/cm']);
  await settled(reroll, space);
  const jobs = async (): Promise<unknown[]> => (await space.list('Job')).map(({ metadata }) => metadata.uid);
  const after = await jobs();
  // That of the CronJob, and the Job that was created again.
  expect(after).toHaveLength(2);
  expect(after).not.toContain(before);
  await reroll.replace('watcher');
  await settled(reroll, space);
  expect(await rollouts()).toEqual([0, 0, 1]);
  expect(await jobs()).toEqual(after);
});
