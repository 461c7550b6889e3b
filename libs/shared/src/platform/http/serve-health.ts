import type { Registry } from 'prom-client';
import type { HealthChecks } from './health-checks.ts';
import { startHttpServer } from './http-server.ts';
import { formatListenAddress, type ListenAddress } from './listen-address.ts';
import type { Logger } from '../logging/logging.ts';
import type { Lifecycle } from '../process/shutdown.ts';

/** Serves metrics and health until the process ends. Rejects if it cannot listen on the address. */
export async function serveHealth(by: {
  address: ListenAddress;
  registry: Registry;
  log: Logger;
  lifecycle: Lifecycle;
  /** `/ready` is 200 while all checks pass. */
  ready: HealthChecks;
}): Promise<void> {
  const { address, registry, log, lifecycle, ready } = by;
  const server = await startHttpServer({ address, registry, log, ready });
  lifecycle.onStop('http server', 2_000, () => server.close(1_500));
  log.info('serving metrics and health', { address: formatListenAddress(server.address) });
}
