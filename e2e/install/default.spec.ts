import { beforeAll, describe, expect, it } from 'vitest';
import { auto, configMap, deployment, replicas, usingEnvFrom } from '../support/objects/builders.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { RolloutCount, markerAnnotation, markerVariables } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';
import { askAdmin, tokenOf } from './support/admin.ts';
import { everything } from './support/leftovers.ts';
import { Release, installCluster } from './support/release.ts';

/** One release through its life, by the defaults of the chart: each test goes on where the one before has ended. */
let release: Release;
let apps: Space;
let before: string[];
/** Of somebody who may read, and of somebody who may do nothing. */
let tokens: { reader: string; stranger: string };

beforeAll(async () => {
  apps = await namespace(connect(installCluster()), 'apps');
  release = await Release.prepare('default');
  await eventually(() => release.space.find('ConfigMap/kube-root-ca.crt'), { what: 'the certificate' });
  tokens = {
    reader: await tokenOf(release.client, apps.name, [`${release.space.name}-reroll-viewer`, 'view']),
    stranger: await tokenOf(release.client, apps.name, []),
  };
  before = await everything(release.client, release.space.name);
});

/** Changes the source and waits for its one rollout. */
async function rollsOnce(value: string): Promise<void> {
  const count = await RolloutCount.from(apps, 'Deployment/api');
  await apps.setData('ConfigMap/settings', { value });
  await eventually(async () => expect(await count.now()).toBe(1) ?? true, { within: 60_000 });
  const generation = (object: { metadata: { generation: number } }): number => object.metadata.generation;
  await eventually(async () => {
    const api = await apps.get('Deployment/api');
    const status = api.status ?? {};
    return status['observedGeneration'] === generation(api) && status['updatedReplicas'] === 1;
  });
  expect(await count.now()).toBe(1);
}

describe('helm install with the values of the chart', () => {
  it('brings two watchers, two workers, an admin and a Redis to be ready', async () => {
    const notes = await release.install();
    expect(notes).toContain('kubectl annotate deployment NAME reloader.stakater.com/auto=true');
    await release.ready('watcher', 2);
    await release.ready('worker', 2);
    await release.ready('admin', 1);
    await release.ready('redis', 1);
  });

  it('reloads a workload once when its ConfigMap changes', async () => {
    await apps.apply(
      configMap('settings', { value: '0' }),
      deployment('api', auto(), usingEnvFrom('settings'), replicas(1)),
    );
    await rollsOnce('1');
    expect(markerVariables(await apps.get('Deployment/api'))).toHaveProperty(
      'app.STAKATER_SETTINGS_CONFIGMAP',
    );
  });
});

describe('admin', () => {
  it('shows the change and its reload to who may read, by the roles of the cluster', async () => {
    await eventually(
      async () => {
        const told = `?source=ConfigMap/${apps.name}/settings`;
        const list = await askAdmin(release, `/api/v1/changes${told}`, { token: tokens.reader });
        expect(list).toMatchObject({ status: 200 });
        const [latest] = (JSON.parse(list.text) as { items: readonly { id: string }[] }).items;
        const change = await askAdmin(release, `/api/v1/changes/${latest?.id}`, { token: tokens.reader });
        expect(change).toMatchObject({ status: 200 });
        const workload = { kind: 'Deployment', namespace: apps.name, name: 'api' };
        expect(JSON.parse(change.text)).toMatchObject({ workloads: [{ workload, reason: 'AutoReload' }] });
        return true;
      },
      { within: 60_000 },
    );
  });

  it('shows it to nobody else', async () => {
    const forbidden = await askAdmin(release, '/api/v1/changes', { token: tokens.stranger });
    expect(forbidden).toMatchObject({ status: 403, type: expect.stringContaining('problem+json') as string });
    const unknown = await Promise.all(
      [undefined, 'made-up'].map((token) => askAdmin(release, '/api/v1/changes', { token })),
    );
    expect(unknown.map(({ status }) => status)).toEqual([401, 401]);
  });

  it('serves what the API is, and the dashboard', async () => {
    const document = await askAdmin(release, '/api/openapi.json');
    expect(JSON.parse(document.text)).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) as string });
    const page = await askAdmin(release, '/');
    expect(page).toMatchObject({ status: 200, type: expect.stringContaining('text/html') as string });
  });
});

describe('the leader', () => {
  it('is one of two watchers: when its pod is deleted the other one goes on', async () => {
    const [first] = await leaders();
    await release.space.delete(`Pod/${first}`);
    await rollsOnce('2');
    await release.ready('watcher', 2);
    expect((await leaders()).filter((name) => name !== first)).not.toEqual([]);
  });
});

/** Pods that have said that they lead. */
async function leaders(): Promise<string[]> {
  const pods = await release.pods('watcher');
  const names = pods.map(({ metadata }) => metadata.name);
  return names.filter((name) => release.logs(name).includes('became leader'));
}

describe('helm upgrade with other values', () => {
  let passwords: Readonly<Record<string, string>> | undefined;
  let redis: string | undefined;

  it('brings another form of the log, the other strategy and one worker more', async () => {
    passwords = (await release.space.get('Secret/reroll-redis')).data;
    const deployment = { readinessProbe: { periodSeconds: 1 } };
    redis = (await release.space.get('Pod/reroll-redis-0')).metadata.uid;
    const reloader = { logFormat: 'json', reloadStrategy: 'annotations', deployment };
    await release.upgrade({ reloader, worker: { replicas: 3 } });
    const workers = await release.ready('worker', 3);
    await rollsOnce('3');
    expect(markerAnnotation(await apps.get('Deployment/api'))).toMatchObject({ name: 'settings' });
    for (const { metadata } of workers) {
      const lines = release.logs(metadata.name).trimEnd().split('\n').slice(1);
      expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
        expect.objectContaining({ level: 'info', msg: 'taking jobs' }),
      );
    }
  });

  it('keeps the passwords of Redis, and Redis itself', async () => {
    const made = expect.stringMatching(/^.{40,}$/) as string;
    expect(passwords).toEqual({ 'watcher-password': made, 'worker-password': made, 'admin-password': made });
    expect(new Set(Object.values(passwords ?? {})).size).toBe(3);
    const { data } = await release.space.get('Secret/reroll-redis');
    expect(data).toEqual(passwords);
    expect((await release.space.get('Pod/reroll-redis-0')).metadata.uid).toBe(redis);
  });
});

describe('helm test', () => {
  it('changes a ConfigMap, sees a rollout, and leaves nothing but its release', async () => {
    expect(await release.test()).toMatch(/Phase:\s+Succeeded/);
    expect(release.logs()).toContain('http://reroll-admin:80 answers');
    await eventually(async () => {
      const names = await everything(release.client, release.space.name);
      expect(names.filter((name) => name.includes('reroll-test'))).toEqual([]);
      return true;
    });
  });
});

describe('scaling', () => {
  it('of the workers down to one, while a change comes, loses nothing', async () => {
    await release.space.patch('Deployment/reroll-worker', { spec: { replicas: 1 } });
    await rollsOnce('4');
    await release.ready('worker', 1);
    await rollsOnce('5');
  });
});

describe('helm uninstall', () => {
  it('leaves the Secrets that were made in the cluster and nothing else, neither in the namespace nor outside', async () => {
    await release.uninstall();
    await eventually(
      async () => {
        const names = await everything(release.client, release.space.name);
        const left = ['secrets/reroll-hash-keys', 'secrets/reroll-redis'];
        expect(names.filter((name) => !before.includes(name))).toEqual(left);
        return true;
      },
      { within: 60_000 },
    );
  });
});
