import 'reflect-metadata';
import { AdminModule } from '@reroll/admin/admin.module';
import { serveApi } from '@reroll/admin/serve-api';
import type { Process } from '@reroll/nest/process';
import { runProcess } from '@reroll/nest/run-process';
import { redisRestarts } from '@reroll/shared/platform/metrics/standalone';
import { isRedisGiven } from '@reroll/shared/platform/options/groups/redis-rules';
import { loadOptions } from '@reroll/shared/platform/options/parsing/load';
import { WatcherModule } from '@reroll/watcher/watcher.module';
import { WorkerModule } from '@reroll/worker/worker.module';
import { leaderAddress, leaderOf } from './leader.ts';
import { RedisChild, redisFolder, socketIn } from './redis-child.ts';

/** Registered first, it stops last: when every connection is closed. */
async function startRedis(folder: string, maxMemory: string, process: Process): Promise<void> {
  const { log, lifecycle, registry } = process;
  const redis = new RedisChild({
    folder,
    maxMemory,
    log,
    restarts: redisRestarts(registry),
    onGivenUp: (error) => void lifecycle.fail('redis-server cannot be kept running', error),
  });
  lifecycle.onStop('redis server', 3_000, () => redis.stop());
  await redis.start();
}

const loaded = loadOptions('standalone');
if (loaded.ok) {
  const { options } = loaded;
  const folder = isRedisGiven(options) ? undefined : redisFolder();
  const own = folder === undefined ? {} : { redisSocket: socketIn(folder), ...leaderAddress(options) };
  await runProcess('standalone', { ...options, ...own }, async (process) => {
    if (folder !== undefined) await startRedis(folder, options.redisMaxMemory, process);
    const roles = [
      WatcherModule.of(options, process),
      WorkerModule.of(options, process),
      AdminModule.of(options, process),
    ];
    // Where all share a Redis, each of them knows everything.
    await serveApi(process, roles, folder === undefined ? undefined : leaderOf);
  });
}
