import { setImmediate as nextTurn } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import type { HealthCheck } from '@reroll/shared/platform/http/health-checks';
import { serveProfiles } from '@reroll/shared/platform/http/profile-server';
import { serveHealth } from '@reroll/shared/platform/http/serve-health';
import { Process } from './process.ts';

/** The checks of `/ready`, by name. To be added in constructors: none may be missing when the server begins to listen. */
export class Readiness {
  readonly checks: Record<string, HealthCheck> = {};

  /** Takes the place of an earlier check of that name. */
  add(name: string, check: HealthCheck): void {
    this.checks[name] = check;
  }
}

/** The server of metrics and health listens. Whatever waits for another server injects this, to wait after it. */
export class Listening {}

/**
 * Profiles, metrics and health. Listens when everything has been created that waits for nothing, so that every check is
 * there, and wrong settings end the process before.
 */
@Module({
  providers: [Readiness, { provide: Listening, inject: [Process, Readiness], useFactory: serve }],
  exports: [Readiness, Listening],
})
export class HealthModule {}

async function serve(
  { options, registry, log, lifecycle }: Process,
  readiness: Readiness,
): Promise<Listening> {
  await nextTurn();
  lifecycle.signal.throwIfAborted();
  await serveProfiles({ options, log, lifecycle });
  const address = options.metricsAddr;
  await serveHealth({ address, registry, log, lifecycle, ready: readiness.checks });
  return new Listening();
}
