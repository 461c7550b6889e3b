import type { TcpProxy } from '@reroll/kube/testing/tcp-proxy';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { connect, namespace } from '../../support/kube.ts';
import { startReroll, type Reroll } from '../../support/reroll.ts';
import { ApiProxy } from './api-proxy.ts';
import { linkTo, mendedCluster, portOf, reachedAt } from './cluster.ts';
import { Fleet } from './fleet.ts';
import { keepRunning } from './keep-running.ts';
import { QUICK_LOCK, QUICK_RESYNC } from './settings.ts';

/** An install of two watchers and two workers, what they look after, and all by which they can be disturbed. */
export interface Place {
  readonly cluster: Cluster;
  readonly reroll: Reroll;
  readonly fleet: Fleet;
  readonly apiLink: TcpProxy;
  readonly apiProxy: ApiProxy;
  readonly redisLink: TcpProxy;
}

export interface PlaceOptions {
  readonly workloads: number;
  readonly flags?: readonly string[];
  readonly watcherFlags: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Whoever ends is started again. All ends with the test. */
export async function startPlace(options: PlaceOptions): Promise<Place> {
  const { workloads, flags = [], watcherFlags, env = {} } = options;
  const cluster = await mendedCluster();
  const apiProxy = await ApiProxy.start(portOf(cluster, 'apiserver'));
  const apiLink = await linkTo(apiProxy.port);
  const redisLink = await linkTo(portOf(cluster, 'redis'));
  const space = await namespace(connect(cluster));
  const fleet = await Fleet.create(space, workloads);
  const reroll = await startReroll({
    cluster: reachedAt(cluster, apiLink.port, 'http'),
    redisUrl: `redis://127.0.0.1:${redisLink.port}`,
    namespaces: [space],
    watchers: 2,
    workers: 2,
    debounce: '200ms',
    sweepInterval: QUICK_RESYNC,
    flags,
    watcherFlags,
    workerFlags: QUICK_LOCK,
    env,
  });
  keepRunning(reroll, ['watcher', 'worker']);
  await fleet.adopted();
  return { cluster, reroll, fleet, apiLink, apiProxy, redisLink };
}
