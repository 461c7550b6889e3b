import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setInterval as every } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHART } from '../../tools/deploy/values/values-comments.ts';
import { Fleet, type Member } from '../faults/support/fleet.ts';
import { cleanUp } from '../support/cleanup.ts';
import { connect, namespace } from '../support/kube.ts';
import { TemplateWatch } from '../support/objects/template-watch.ts';
import { Release, SMALL, installCluster } from './support/release.ts';
import { idle, resyncs } from './support/idle.ts';
import { NEXT } from './support/images.ts';

/** Spreads 100 changes over most of an upgrade. */
const PACE_MS = 60;

let release: Release;
let fleet: Fleet;
let watch: TemplateWatch;

beforeAll(async () => {
  const apps = await namespace(connect(installCluster()), 'apps');
  const scope = {
    watchGlobally: false,
    namespaces: [apps.name],
    sweepInterval: '2s',
    hashKey: { enabled: false },
  };
  release = await Release.install('upgrade', SMALL, {
    watcher: { replicas: 2 },
    worker: { replicas: 2 },
    reloader: { ...scope, adoptionsPerSecond: 1_000 },
    admin: {
      auth: 'static',
      staticTokens: { list: [{ name: 'a', sha256: 'a'.repeat(64), access: 'read', namespaces: ['*'] }] },
    },
  });
  fleet = await Fleet.create(apps);
  await fleet.adopted();
  watch = await TemplateWatch.start(apps);
});

/** There is no release before this one: one of the same code, under other versions and tags, stands in for the next. */
function nextChart(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-next-chart-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(CHART, folder, { recursive: true });
  const file = join(folder, 'Chart.yaml');
  const text = readFileSync(file, 'utf8').replaceAll(/^(version|appVersion):.*$/gm, `$1: ${NEXT}`);
  writeFileSync(file, text);
  return folder;
}

/** One after the other, at a pace of its own, whatever else happens meanwhile. */
async function change(members: readonly Member[]): Promise<void> {
  const waiting = [...members];
  for await (const _ of every(PACE_MS)) {
    const next = waiting.shift();
    if (next === undefined) return;
    await fleet.change([next]);
  }
}

async function tags(): Promise<string[]> {
  const pods = [
    ...(await release.ready('watcher', 2)),
    ...(await release.ready('worker', 2)),
    ...(await release.ready('admin', 1)),
  ];
  return [
    ...new Set(pods.flatMap(({ spec }) => spec.containers.map(({ image }) => image.split(':')[1] ?? ''))),
  ];
}

describe('helm upgrade and helm rollback in the middle of 200 changes', () => {
  it('lose none and reload nothing twice', async () => {
    const [before] = await tags();
    const half = fleet.members.length / 2;
    await Promise.all([change(fleet.members.slice(0, half)), release.upgradeTo(nextChart())]);
    expect(await tags()).toEqual([NEXT]);
    await Promise.all([change(fleet.members.slice(half)), release.rollback(1)]);
    expect(await tags()).toEqual([before]);

    await fleet.inStep();
    await idle(release);
    await resyncs(release, 2);
    await idle(release);
    const counts = await Promise.all(fleet.members.map(({ workload }) => watch.changes(workload)));
    const wrong = fleet.members.filter((_member, index) => counts[index] !== 1);
    expect(
      wrong.map(({ workload }) => workload),
      'not reloaded exactly once',
    ).toEqual([]);
  });
});
