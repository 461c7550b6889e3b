import { startHttpServer } from '@reroll/shared/platform/http-server';
import type { Logger } from '@reroll/shared/platform/logging';
import type { WatcherOptions } from '@reroll/shared/platform/options/table';
import { formatListenAddress } from '@reroll/shared/platform/listen-address';
import type { Lifecycle } from '@reroll/shared/platform/shutdown';
import type { Registry } from 'prom-client';
import type { WatcherState } from './state.ts';

/** Metrics and health; ready when Redis answers and every stream is complete, leader or standby. */
export async function serveHealth(by: {
  options: WatcherOptions;
  registry: Registry;
  log: Logger;
  lifecycle: Lifecycle;
  /** Rejects if Redis does not answer. */
  askRedis: () => Promise<void>;
  state: WatcherState;
}): Promise<void> {
  const server = await startHttpServer({
    address: by.options.metricsAddr,
    registry: by.registry,
    log: by.log,
    ready: {
      redis: () => by.askRedis().then(() => undefined),
      streams: () => (by.state.isSynced() ? undefined : 'not every list is complete'),
    },
  });
  by.lifecycle.onStop('http server', 2_000, () => server.close(1_500));
  by.log.info('serving metrics and health', { address: formatListenAddress(server.address) });
}
