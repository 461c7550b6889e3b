import { beforeAll, beforeEach, expect, test } from 'vitest';
import { connect, namespace } from '../support/kube.ts';
import type { App } from '../support/processes.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { mendedCluster } from './support/cluster.ts';
import { Clocks } from './support/clock.ts';
import { Fleet } from './support/fleet.ts';
import { QUICK_LEASE, QUICK_LOCK, QUICK_RESYNC } from './support/settings.ts';

let clocks: Clocks;
let fleet: Fleet;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = await mendedCluster();
  clocks = new Clocks();
  const space = await namespace(connect(cluster));
  fleet = await Fleet.create(space, 100);
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    watchers: 2,
    workers: 2,
    debounce: '200ms',
    sweepInterval: QUICK_RESYNC,
    watcherFlags: QUICK_LEASE,
    workerFlags: QUICK_LOCK,
    env: clocks.env,
  });
});

beforeEach(() => fleet.adopted());

const WHO: Readonly<Record<string, () => Promise<App | undefined>>> = {
  leader: () => reroll.leader(),
  standby: () => reroll.standby(),
  worker: async () => reroll.workers[0],
};

test.each([
  ['leader', 5],
  ['leader', -5],
  ['standby', 5],
  ['worker', 5],
  ['worker', -5],
] as const)(
  'the clock of a %s jumps by %d minutes in the middle of 100 changes, and back',
  async (who, minutes) => {
    const app = await WHO[who]?.();
    if (!app) throw new Error(`expected a ${who}`);
    await fleet.inTheMiddle(async (changeTheRest) => {
      await clocks.jump(app, minutes);
      await changeTheRest();
    });
    await fleet.settled(reroll);
    expect(await fleet.anomalies()).toEqual([]);

    await clocks.jump(app, 0);
    await fleet.adopted();
    await fleet.change();
    await fleet.settled(reroll);
    expect(await fleet.anomalies()).toEqual([]);
    expect(app.isRunning).toBe(true);
  },
);
