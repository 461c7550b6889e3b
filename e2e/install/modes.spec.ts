import { setInterval as every } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { hashKey, type HashKeys } from '@reroll/core/record/record-hash';
import { Fleet, type Member } from '../faults/support/fleet.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { TemplateWatch } from '../support/objects/template-watch.ts';
import { eventually } from '../support/wait.ts';
import { askAdmin, tokenOf } from './support/admin.ts';
import { resyncs } from './support/idle.ts';
import { Release, SMALL, installCluster, type Values } from './support/release.ts';

/** Spreads 100 changes over the time in which one mode takes over from the other. */
const PACE_MS = 150;

const COMMON: Values = {
  ...SMALL,
  reloader: {
    debounce: '0s',
    deployment: { readinessProbe: { periodSeconds: 1 } },
    sweepInterval: '2s',
    adoptionsPerSecond: 1_000,
  },
};
const DISTRIBUTED: Values = { ...COMMON, mode: 'distributed' };
const STANDALONE: Values = { ...COMMON, mode: 'standalone' };
const WITH_STANDBY: Values = { ...STANDALONE, standalone: { replicas: 2 } };

/** One release that goes on in each test where the one before has ended. */
let release: Release;
let apps: Space;
let fleet: Fleet;
let watch: TemplateWatch;

beforeAll(async () => {
  apps = await namespace(connect(installCluster()), 'apps');
  release = await Release.install('modes', STANDALONE);
  fleet = await Fleet.create(apps, 200, await madeKeys());
  await fleet.adopted();
  watch = await TemplateWatch.start(apps);
});

/** The key of hashes that the chart's Job has made: both modes have to use it. */
async function madeKeys(): Promise<HashKeys> {
  const { data } = await release.space.get(`Secret/${release.name}-hash-keys`);
  return [
    hashKey(
      Buffer.from(
        Buffer.from(data?.['keys'] ?? '', 'base64')
          .toString()
          .trim(),
      ),
    ),
  ];
}

/** One after the other, whatever else happens meanwhile. */
async function change(members: readonly Member[]): Promise<void> {
  const waiting = [...members];
  for await (const _ of every(PACE_MS)) {
    const next = waiting.shift();
    if (next === undefined) return;
    await fleet.change([next]);
  }
}

/** How often each workload was reloaded so far. */
async function reloads(): Promise<readonly number[]> {
  return await Promise.all(fleet.members.map(({ workload }) => watch.changes(workload)));
}

/** Workloads that were not reloaded exactly once since. */
async function notOnce(before: readonly number[]): Promise<readonly string[]> {
  const now = await reloads();
  const wrong = fleet.members.filter((_member, index) => now[index] !== (before[index] ?? 0) + 1);
  return wrong.map(({ workload }) => workload);
}

/** Without the Job that made Secrets, whose pod has ended. */
async function componentsThatRun(): Promise<readonly string[]> {
  const pods = await release.pods();
  const components = pods.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] ?? '');
  return [...new Set(components)].filter((component) => component !== 'make-secrets').sort();
}

async function runs(...components: readonly string[]): Promise<void> {
  await eventually(
    async () => {
      expect(await componentsThatRun()).toEqual(components);
      return true;
    },
    { within: 60_000 },
  );
}

/** Claims of persistent volumes in the namespace of the release. */
async function volumes(): Promise<readonly unknown[]> {
  const path = `/api/v1/namespaces/${release.space.name}/persistentvolumeclaims`;
  return (await release.client.get<{ items: readonly unknown[] }>(path)).body.items;
}

describe('mode: standalone', () => {
  it('is one pod without a volume, and reloads each workload once', async () => {
    await release.ready('standalone', 1);
    await runs('standalone');
    expect(await volumes()).toEqual([]);
    const before = await reloads();
    await fleet.change();
    await fleet.inStep();
    await resyncs(release, 2, 'standalone');
    expect(await notOnce(before)).toEqual([]);
  });

  it('with a standby, gives the answers of the leader at either pod', async () => {
    await release.upgrade(WITH_STANDBY);
    await release.ready('standalone', 2);
    const token = await tokenOf(release.client, apps.name, [`${release.space.name}-reroll-viewer`, 'view']);
    const source = encodeURIComponent(`${fleet.members[0]?.source.replace('/', `/${apps.name}/`)}`);
    await eventually(
      async () => {
        const answers = await Promise.all(
          [0, 1].map((index) =>
            askAdmin(release, `/api/v1/changes?source=${source}`, { component: 'standalone', index, token }),
          ),
        );
        expect(answers.map(({ status }) => status)).toEqual([200, 200]);
        expect((JSON.parse(answers[0]?.text ?? '') as { items: unknown[] }).items).not.toEqual([]);
        expect(answers[1]?.text).toBe(answers[0]?.text);
        return true;
      },
      { within: 60_000 },
    );
  });
});

describe('helm upgrade to the other mode and back, in the middle of 200 changes', () => {
  it('loses none and reloads nothing twice', async () => {
    const before = await reloads();
    const half = fleet.members.length / 2;
    await Promise.all([change(fleet.members.slice(0, half)), release.upgrade(DISTRIBUTED)]);
    for (const component of ['watcher', 'worker', 'admin', 'redis'] as const)
      await release.ready(component, 1);
    await runs('admin', 'redis', 'watcher', 'worker');
    expect(await volumes()).toEqual([]);
    await fleet.inStep();
    await Promise.all([change(fleet.members.slice(half)), release.upgrade(STANDALONE)]);
    await release.ready('standalone', 1);
    await runs('standalone');

    await fleet.inStep();
    await resyncs(release, 2, 'standalone');
    expect(await notOnce(before), 'not reloaded exactly once').toEqual([]);
  });
});
