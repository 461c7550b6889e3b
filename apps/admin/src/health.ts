import { startHttpServer } from '@reroll/shared/platform/http-server';
import { formatListenAddress } from '@reroll/shared/platform/listen-address';
import type { Logger } from '@reroll/shared/platform/logging';
import type { AdminOptions } from '@reroll/shared/platform/options/table';
import type { Lifecycle } from '@reroll/shared/platform/shutdown';
import type { Registry } from 'prom-client';

/** Metrics and health; ready when Redis answers and the API is served. */
export async function serveHealth(by: {
  options: AdminOptions;
  registry: Registry;
  log: Logger;
  lifecycle: Lifecycle;
  /** Rejects if Redis does not answer. */
  askRedis: () => Promise<void>;
}): Promise<{ begun(): void }> {
  let serving = false;
  const server = await startHttpServer({
    address: by.options.metricsAddr,
    registry: by.registry,
    log: by.log,
    ready: {
      redis: () => by.askRedis().then(() => undefined),
      api: () => (serving && !by.lifecycle.signal.aborted ? undefined : 'the API is not served'),
    },
  });
  by.lifecycle.onStop('http server', 2_000, () => server.close(1_500));
  by.log.info('serving metrics and health', { address: formatListenAddress(server.address) });
  return {
    begun: () => {
      serving = true;
    },
  };
}
