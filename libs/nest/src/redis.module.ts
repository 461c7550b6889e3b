import { Injectable, Module } from '@nestjs/common';
import { openRedis, type RedisClient } from '@reroll/redis/connection/redis';
import { whenReachable, type Waiting } from '@reroll/redis/connection/when-reachable';
import { redisMetrics } from '@reroll/shared/platform/metrics/shared';
import { redisReports, type RedisReports } from '@reroll/shared/platform/process/redis-reports';
import { HealthModule, Readiness } from './health.module.ts';
import { Process } from './process.ts';
import { provided } from './provided.ts';
import { REDIS } from './tokens.ts';

/** The process's connection for catalog, history and queues. */
@Injectable()
export class RedisConnection {
  readonly client: RedisClient;
  readonly reports: RedisReports;
  /** For what waits until Redis can be reached. */
  readonly waiting: Waiting;

  constructor({ options, log, registry, lifecycle }: Process, readiness: Readiness) {
    this.reports = redisReports(log, redisMetrics(registry));
    if (options.redisTlsInsecureSkipVerify) this.reports.onUnverified();
    this.client = openRedis(options, this.reports);
    lifecycle.onStop('redis', 2_000, () => this.client.disconnect());
    this.waiting = { signal: lifecycle.signal, hooks: this.reports };
    readiness.add('redis', () => this.client.ping().then(() => undefined));
  }

  /** Calls the listener whenever a connection is made: at the first one that comes, and after each loss. */
  onConnected(listener: () => void): void {
    this.client.on('ready', listener);
  }

  /** Runs the action as soon as Redis can be reached. Rejects if the process ends first. */
  async whenReachable<T>(action: () => Promise<T>): Promise<T> {
    const result = await whenReachable(async () => ({ value: await action() }), this.waiting);
    if (result === undefined) throw new Error('shut down before Redis could be reached');
    return result.value;
  }
}

@Module({
  imports: [HealthModule],
  providers: [RedisConnection, provided(REDIS, [RedisConnection], ({ client }) => client)],
  exports: [RedisConnection, REDIS],
})
export class RedisModule {}
