import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import { deployment, searching } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import {
  classAuto,
  classesSettled,
  hasVersion,
  installDriver,
  mounting,
  namingClass,
  providerClass,
  removeDriver,
  status,
  statusRef,
} from '../support/objects/provider-classes.ts';
import { dumpRedis } from '../support/redis/redis-dump.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { countRollouts, markerAnnotation, markerVariables, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const CSI = ['--enable-csi-integration', '--discovery-interval=200ms'];
const PODS = ['p1', 'p2', 'p3'];
const cluster = sharedCluster();

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  space = await namespace(connect(cluster));
});

/** As section "Hashes" of the incumbent has it, from the parts that `status` writes. */
function incumbentHash(name: string, version: string): string {
  const entries = [
    `SecretProviderClassName=${name}`,
    'secret/fixed-id-5c1e=always-5c1e',
    `secret/token-id-5c1e=${version}`,
  ];
  return createHash('sha1').update(entries.join(';')).digest('hex');
}

/** Applies a class that three pods have mounted at `v1`, and resolves when these workloads have it recorded. */
async function mounted(name: string, workloads: readonly string[]): Promise<void> {
  await space.apply(...PODS.map((pod) => status(pod, name, 'v1')));
  for (const workload of workloads) await hasVersion(space, workload, { name, version: 'v1' });
}

const LABELLED = { metadata: { labels: { written: 'late' } } };

/** Resolves when the API server's clock is past the second in which this status was created. */
async function nextSecond(pod: string, name: string): Promise<void> {
  const { creationTimestamp } = (await space.get(statusRef(pod, name))).metadata;
  await eventually(() => Math.floor(Date.now() / 1000) > Date.parse(creationTimestamp) / 1000);
}

/** One pod has the new version; of those that have not, the metadata is written afterwards. */
async function rotateOneOf(name: string, version: string): Promise<void> {
  await space.apply(status('p1', name, version));
  for (const pod of PODS.slice(1)) {
    const labels = { written: `before-${version}` };
    await space.patch(statusRef(pod, name), { metadata: { labels } });
  }
}

describe('with --enable-csi-integration', () => {
  beforeAll(async () => {
    reroll = await startReroll({ cluster, namespaces: [space], watcherFlags: CSI });
  });

  it('CRDs that are installed later are noticed without a restart, and what is mounted then reloads nothing', async () => {
    await space.apply(deployment('later', classAuto(), mounting('later')));
    await settled(reroll, space);
    const rollouts = await countRollouts(space, ['Deployment/later']);
    await installDriver(space);
    await space.apply(providerClass('later'));
    await mounted('later', ['Deployment/later']);
    await classesSettled(reroll, space);
    expect(await rollouts()).toEqual([0]);
  });

  describe('a class that workloads use by typed auto, by name, by pattern and by search', () => {
    const ASKING = ['Deployment/typed', 'Deployment/named', 'Deployment/patterned', 'Deployment/searching'];
    const ALL = [...ASKING, 'Deployment/excluded', 'Deployment/silent'];

    beforeAll(async () => {
      await space.apply(
        providerClass('vault', { [KEYS.match]: 'true' }),
        deployment('typed', classAuto(), mounting('vault')),
        deployment('named', namingClass('other,vault')),
        deployment('patterned', namingClass('va.*')),
        deployment('searching', searching(), mounting('vault')),
        deployment('excluded', classAuto(), mounting('vault'), ({ metadata }) => {
          metadata.annotations[KEYS.secretProviderClassExclude] = 'vault';
        }),
        deployment('silent', mounting('vault')),
      );
      await mounted('vault', ASKING);
      await classesSettled(reroll, space);
    });

    it('reloads each of them once, however slowly the pods rotate, while old statuses linger and are written', async () => {
      const rollouts = await countRollouts(space, ALL);
      for (const [index, pod] of PODS.entries()) {
        await space.apply(status(pod, 'vault', 'v2'));
        if (index === 0) {
          for (const ref of ASKING) {
            const now = await hasVersion(space, ref, { name: 'vault', version: 'v2' });
            expect(markerVariables(now)).toEqual({
              app: { STAKATER_VAULT_SECRETPROVIDERCLASS: incumbentHash('vault', 'v2') },
            });
          }
        }
        for (const old of PODS.slice(index + 1)) {
          await space.patch(statusRef(old, 'vault'), { metadata: { labels: { written: pod } } });
        }
        // The pods of the rollout come up with what is there now; one that is still mounting shows nothing.
        await space.apply(status(`new-${pod}`, 'vault'), status(`new-${pod}`, 'vault', 'v2'));
        await classesSettled(reroll, space);
      }
      for (const pod of PODS.slice(0, 2)) await space.delete(statusRef(pod, 'vault'));
      await classesSettled(reroll, space);
      expect(await rollouts()).toEqual([1, 1, 1, 1, 0, 0]);
    });

    it('reloads each of them once more when the pods rotate back', async () => {
      const rollouts = await countRollouts(space, ALL);
      await space.apply(status('p3', 'vault', 'v1'));
      for (const ref of ASKING) await hasVersion(space, ref, { name: 'vault', version: 'v1' });
      await space.apply(status('new-p1', 'vault', 'v1'), status('new-p2', 'vault', 'v1'));
      await classesSettled(reroll, space);
      expect(await rollouts()).toEqual([1, 1, 1, 1, 0, 0]);
    });

    it('counts the events of statuses as stakater/Reloader does, by what is watched', async () => {
      const processes = [await reroll.leader(), ...reroll.workers];
      const metrics = (await Promise.all(processes.map((app) => app.metrics()))).join('\n');
      const type = 'resource_type="secretproviderclasspodstatuses"';
      expect(metrics).toMatch(
        new RegExp(`^reloader_events_received_total\\{event_type="update",${type}\\} [1-9]`, 'mu'),
      );
      expect(metrics).toMatch(
        new RegExp(
          `^reloader_events_processed_total\\{event_type="unknown",${type},result="success"\\} [1-9]`,
          'mu',
        ),
      );
      expect(metrics).not.toContain('resource_type="secretproviderclasses"');
    });
  });

  it('a pod that mounts newer versions than the others tells of the change: one rollout', async () => {
    await space.apply(providerClass('scaled'), deployment('scaled', classAuto(), mounting('scaled')));
    await mounted('scaled', ['Deployment/scaled']);
    const rollouts = await countRollouts(space, ['Deployment/scaled']);
    await space.apply(status('p6', 'scaled', 'v2'));
    await hasVersion(space, 'Deployment/scaled', { name: 'scaled', version: 'v2' });
    await space.apply(...PODS.map((pod) => status(pod, 'scaled', 'v2')));
    await classesSettled(reroll, space);
    expect(await rollouts()).toEqual([1]);
  });

  it('neither ids nor versions are in Redis or in a log', async () => {
    const kept = [await dumpRedis(reroll.redis), reroll.logs()].join('\n');
    expect(kept).toContain('SecretProviderClass/vault');
    expect(kept).not.toMatch(/(token-id|fixed-id|always)-5c1e/);
  });

  it('a restart of everything while old statuses linger reloads nothing, and misses nothing', async () => {
    await space.apply(providerClass('again'), deployment('again', classAuto(), mounting('again')));
    await mounted('again', ['Deployment/again']);
    await nextSecond('p3', 'again');
    await space.apply(status('p1', 'again', 'v2'));
    await hasVersion(space, 'Deployment/again', { name: 'again', version: 'v2' });
    await classesSettled(reroll, space);
    const rollouts = await countRollouts(space, ['Deployment/again', 'Deployment/scaled']);
    await reroll.stop();
    await rotateOneOf('scaled', 'v3');
    for (const pod of ['p2', 'p3']) await space.patch(statusRef(pod, 'again'), LABELLED);
    reroll = await startReroll({ ...reroll.options, install: reroll.install });
    await hasVersion(space, 'Deployment/scaled', { name: 'scaled', version: 'v3' });
    await classesSettled(reroll, space);
    expect(await rollouts()).toEqual([0, 1]);
    await reroll.stop();
  });
});

it('without the flag no class is looked at', async () => {
  reroll = await startReroll({ cluster, namespaces: [space] });
  const rollouts = await countRollouts(space, ['Deployment/again']);
  await space.apply(status('p3', 'again', 'v5'));
  await settled(reroll, space);
  const classes: string[] = [];
  for await (const portion of reroll.catalog.eachSource((key) => key.startsWith('SecretProviderClass/')))
    classes.push(...portion.map(([key]) => key));
  expect(classes).toEqual([]);
  expect(await rollouts()).toEqual([0]);
  await reroll.stop();
});

it('a fresh install with the annotations strategy adopts without a reload, goes by the records that are there, then reloads once for a change', async () => {
  await space.apply(
    deployment('adopted', classAuto(), mounting('again')),
    deployment('named', namingClass('again')),
  );
  await rotateOneOf('scaled', 'v4');
  const refs = ['Deployment/adopted', 'Deployment/named'];
  const rollouts = await countRollouts(space, [...refs, 'Deployment/scaled']);
  const workerFlags = ['--reload-strategy=annotations'];
  reroll = await startReroll({ cluster, namespaces: [space], watcherFlags: CSI, workerFlags });
  for (const ref of refs) await hasVersion(space, ref, { name: 'again', version: 'v5' });
  await hasVersion(space, 'Deployment/scaled', { name: 'scaled', version: 'v4' });
  await classesSettled(reroll, space);
  expect(await rollouts()).toEqual([0, 0, 1]);
  for (const pod of PODS) await space.apply(status(pod, 'again', 'v6'));
  for (const ref of refs) {
    const now = await hasVersion(space, ref, { name: 'again', version: 'v6' });
    const hash = incumbentHash('again', 'v6');
    expect(markerAnnotation(now)).toMatchObject({ kind: 'SecretProviderClass', name: 'again', hash });
  }
  await classesSettled(reroll, space);
  expect(await rollouts()).toEqual([1, 1, 1]);
  await reroll.stop();
  await removeDriver(space);
});
