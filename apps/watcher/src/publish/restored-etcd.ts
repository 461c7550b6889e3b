import type { Catalog } from '@reroll/redis/catalog/catalog';
import { pause, systemClock, type Clock } from '@reroll/kube/client/clock';
import type { KubeClient } from '@reroll/kube/client/connection';
import type { EventRecorder } from '@reroll/kube/kube-events';
import type { Rv } from '@reroll/core/rv';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import type { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { recordOnLease } from '../lease-event.ts';

export interface RestoredEtcdContext {
  readonly client: Pick<KubeClient, 'get'>;
  readonly catalog: Pick<Catalog, 'reset'>;
  readonly events: Pick<EventRecorder, 'record' | 'flush'>;
  readonly options: Pick<WatcherOptions, 'podNamespace' | 'leaseName'>;
  readonly lifecycle: Pick<Lifecycle, 'signal' | 'stop'>;
  readonly metrics: Pick<WatcherMetrics, 'etcdRestores'>;
  readonly log: Pick<Logger, 'warning' | 'failure'>;
  readonly clock?: Clock | undefined;
}

/** Two resourceVersions that prove the restore: of the object with this key, or of the Lease if there is no key. */
export interface RestoredEtcd {
  readonly key?: string;
  readonly seenBefore: Rv;
  readonly seenNow: Rv;
  /** Leaders with a lower term may no longer write to the catalog. */
  readonly fence: Rv;
}

const FIRST_PAUSE = 100;
const MAX_PAUSE = 5_000;
/**
 * Attempts to reset the catalog, over about a minute. If Redis stays unreachable, the next start finds the earlier
 * term there.
 */
const ATTEMPTS = 17;
const FLUSH = 1_000;
const NOTE =
  'etcd was restored to an earlier state. The catalog in Redis is reset and the watcher restarts; the applied ' +
  'records on the workloads decide what is reloaded. Nothing has to be done.';

/**
 * Handles an etcd that was restored to an earlier state. The cluster state and the catalog then describe a history that
 * no longer exists: their resourceVersions may be greater than any in etcd. The watcher resets the catalog, records an
 * Event and ends. Kubernetes restarts it, and it begins like the first watcher of an install. Never rejects.
 */
export async function beginAnew(context: RestoredEtcdContext, restored: RestoredEtcd): Promise<void> {
  const { lifecycle, metrics, log } = context;
  metrics.etcdRestores.inc();
  log.warning('etcd was restored to an earlier state, starting over', { ...restored });
  await resetCatalog(context, restored);
  await recordEvent(context);
  await lifecycle.stop('etcd was restored to an earlier state', 1);
}

async function resetCatalog(
  { catalog, lifecycle, log, clock = systemClock }: RestoredEtcdContext,
  { fence }: RestoredEtcd,
): Promise<void> {
  let wait = FIRST_PAUSE;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      await catalog.reset(fence);
      return;
    } catch (error) {
      if (lifecycle.signal.aborted) return;
      log.failure('cannot reset the catalog, retrying', error, { milliseconds: wait });
      await pause(clock, wait, lifecycle.signal);
      wait = Math.min(wait * 2, MAX_PAUSE);
    }
  }
}

async function recordEvent({ client, events, options, log }: RestoredEtcdContext): Promise<void> {
  const lease = { namespace: options.podNamespace, name: options.leaseName };
  try {
    await recordOnLease({ client, events, lease }, { reason: 'EtcdRestored', note: NOTE });
    await events.flush(FLUSH);
  } catch (error) {
    log.failure('cannot record the Event about the restored etcd', error);
  }
}
