import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { TcpProxy } from '@reroll/kube/testing/tcp-proxy';
import { connect, namespace } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { ApiProxy, isWatch, isWrite, PASSED, type Fate } from './support/api-proxy.ts';
import { linkTo, mendedCluster, portOf, reachedAt } from './support/cluster.ts';
import { Fleet } from './support/fleet.ts';
import { keepRunning } from './support/keep-running.ts';
import { QUICK_RESYNC } from './support/settings.ts';

let proxy: ApiProxy;
let link: TcpProxy;
let fleet: Fleet;
let reroll: Reroll;

/** Two watchers, two workers, and between them and the API server what can fail. */
beforeAll(async () => {
  const cluster = await mendedCluster();
  proxy = await ApiProxy.start(portOf(cluster, 'apiserver'));
  link = await linkTo(proxy.port);
  const space = await namespace(connect(cluster));
  fleet = await Fleet.create(space, 100);
  reroll = await startReroll({
    cluster: reachedAt(cluster, link.port, 'http'),
    namespaces: [space],
    watchers: 2,
    workers: 2,
    sweepInterval: QUICK_RESYNC,
  });
  keepRunning(reroll);
});

beforeEach(async () => {
  link.delayMs = 0;
  proxy.fateOf = () => PASSED;
  proxy.disturbed = 0;
  await fleet.adopted();
});

test('the API server is 300 ms away, each way', async () => {
  await fleet.inTheMiddle(async (changeTheRest) => {
    link.delayMs = 300;
    await changeTheRest();
  });
  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
});

type Judge = (request: IncomingMessage) => Fate;

/** One of so many requests of a sort meets these fates in turn. */
function oneIn(count: number, isMeant: (request: IncomingMessage) => boolean, fates: readonly Fate[]): Judge {
  let met = 0;
  return (request) => {
    if (!isMeant(request)) return PASSED;
    met += 1;
    return met % count === 0 ? (fates[(met / count) % fates.length] ?? PASSED) : PASSED;
  };
}

const LOST: Fate = { arrives: false, answer: 'reset' };
/** The API server did it, and nobody hears of it. */
const DONE_AND_LOST: Fate = { answer: 'reset' };
const DONE_AND_LATE: Fate = { answer: { status: 504 } };
const THROTTLED: Fate = { arrives: false, answer: { status: 429, retryAfter: 1 } };
const REFUSED: Fate = { arrives: false, answer: { status: 503 } };

test.each<[string, Judge]>([
  ['loses one request in twenty', oneIn(20, (request) => !isWatch(request), [LOST, DONE_AND_LOST])],
  ['answers one request in five with 429 and Retry-After', oneIn(5, () => true, [THROTTLED])],
  [
    'does every third write and says that it took too long, or nothing',
    oneIn(3, isWrite, [DONE_AND_LATE, DONE_AND_LOST]),
  ],
])('the API server %s', async (_, fateOf) => {
  await fleet.inTheMiddle(async (changeTheRest) => {
    proxy.fateOf = fateOf;
    proxy.cut();
    await changeTheRest();
  });
  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
  expect(proxy.disturbed).toBeGreaterThan(0);
});

test('the API server answers everything with 503 for five seconds', async () => {
  await fleet.inTheMiddle(async (changeTheRest) => {
    proxy.fateOf = () => REFUSED;
    proxy.cut();
    await changeTheRest();
    await pause(5_000);
    proxy.fateOf = () => PASSED;
  });
  await fleet.settled(reroll);
  expect(await fleet.anomalies()).toEqual([]);
  expect(proxy.disturbed).toBeGreaterThan(0);
});
