import { beforeAll, describe, expect, it } from 'vitest';
import { RuntimeLimits } from '@reroll/redis/processes/limits';
import { Processes, settingsInForce, type Process } from '@reroll/redis/processes/processes';
import { VERSION } from '@reroll/shared/platform/process/version';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  const flags = ['--auto-reload-all'];
  const workerFlags = ['--concurrency=7', '--max-reloads-per-minute=60'];
  reroll = await startReroll({ cluster, namespaces: [space], watchers: 2, workers: 2, flags, workerFlags });
});

function processes(): Promise<Process[]> {
  return new Processes(reroll.redis, reroll.catalog.keys.processes).all();
}

describe('the processes of an install', () => {
  it('say which of them leads, what is pending, and by what settings the workers decide', async () => {
    const all = await eventually(async () => {
      const found = await processes();
      return found.filter(({ synced }) => synced).length === 2 && found.length === 4 && found;
    });
    expect(all.map(({ app, name }) => `${app} ${name}`).sort()).toEqual([
      'watcher watcher-1',
      'watcher watcher-2',
      'worker worker-3',
      'worker worker-4',
    ]);
    for (const { version, isLive } of all) expect([version, isLive]).toEqual([VERSION, true]);
    const leader = await reroll.leader();
    expect(all.filter((each) => each.leader).map(({ name }) => name)).toEqual([leader.name]);
    expect(all.find((each) => each.leader)?.owed).toEqual({ workloads: 0, since: null });
    expect(all.find(({ app }) => app === 'worker')).toMatchObject({ concurrency: 7, reloadsPerMinute: 60 });
    expect(settingsInForce(all)).toMatchObject({ decision: { autoReloadAll: true }, dryRun: false });
  });

  it('go at their own end, and are still there if they were killed', async () => {
    const [ended, killed] = reroll.workers;
    await ended?.stop();
    await killed?.kill();
    const names = (await processes()).map(({ name }) => name);
    expect(names).not.toContain('worker-3');
    expect(names).toContain('worker-4');
  });
});

describe('limits that are set while workers run', () => {
  it('count within a heartbeat, without a restart, and the flags again when they are taken away', async () => {
    const worker = reroll.start('worker');
    await worker.ready();
    const limits = new RuntimeLimits(reroll.redis, reroll.catalog.keys.limits);
    const inForce = async (): Promise<Process | undefined> =>
      (await processes()).find(({ name }) => name === worker.name);
    await limits.set({ concurrency: 2, reloadsPerMinute: 0 });
    await eventually(async () => {
      const now = await inForce();
      return now?.concurrency === 2 && now.reloadsPerMinute === 0;
    });
    await limits.set({ concurrency: null, reloadsPerMinute: null });
    await eventually(async () => {
      const now = await inForce();
      return now?.concurrency === 7 && now.reloadsPerMinute === 60;
    });
  });
});
