import { setImmediate as nextTurn } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import type { HealthCheck } from '@reroll/shared/platform/http/health-checks';
import { serveProfiles } from '@reroll/shared/platform/http/profile-server';
import { serveHealth } from '@reroll/shared/platform/http/serve-health';
import { Process } from './process.ts';
import { provided } from './provided.ts';

/** The checks of `/ready`, by name. Add them in constructors, so that all exist when the server starts to listen. */
export class Readiness {
  readonly checks: Record<string, HealthCheck> = {};

  /** Replaces an earlier check of the same name. */
  add(name: string, check: HealthCheck): void {
    this.checks[name] = check;
  }
}

/** Resolved once the server of metrics and health listens. Inject it into what waits for other servers, to wait after it. */
export class Listening {}

/**
 * Serves profiles, metrics and health. Listens once everything exists that waits for nothing, so that every check is
 * registered, and wrong settings end the process first.
 */
@Module({
  providers: [Readiness, provided(Listening, [Process, Readiness], serve)],
  exports: [Readiness, Listening],
})
export class HealthModule {}

async function serve(
  { options, registry, log, lifecycle, outside }: Process,
  readiness: Readiness,
): Promise<Listening> {
  await nextTurn();
  lifecycle.signal.throwIfAborted();
  if (outside.isListening === false) return new Listening();
  await serveProfiles({ options, log, lifecycle });
  const address = options.metricsAddr;
  await serveHealth({ address, registry, log, lifecycle, ready: readiness.checks });
  return new Listening();
}
