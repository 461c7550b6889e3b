import type { Provider } from '@nestjs/common';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import { HistoryReader } from '@reroll/redis/history/history-reader';
import { openForWaiting, type RedisClient } from '@reroll/redis/connection/redis';
import { Rollouts } from '@reroll/redis/history/rollouts';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { LiveStates } from './history/live-states.ts';
import { ReadModel } from './history/read-model.ts';
import { ReloadJobs } from './history/reload-jobs.ts';
import { Cursors } from './http/cursors.ts';
import { ObjectFacts } from './objects/object-facts.ts';
import { ShownHashes } from './shown-hashes.ts';

export interface ReadingContext {
  readonly redis: RedisClient;
  readonly catalog: Catalog;
  readonly metrics: AdminMetrics;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
}

/**
 * What answers are read from. Resolves when the history is in memory; from then on it is followed until the end.
 * Undefined: the end has begun before.
 */
export async function beginReading(context: ReadingContext): Promise<Provider[] | undefined> {
  const { redis, catalog, metrics, log, lifecycle } = context;
  const { keys } = catalog;
  const waiting = openForWaiting(redis);
  lifecycle.onStop('redis of the history', 500, () => waiting.disconnect());
  const reader = new HistoryReader({ redis, waiting, keys });
  const hashes = new ShownHashes(redis, keys.shownHashKey);
  const model = new ReadModel({ reader, hashes, metrics, log, signal: lifecycle.signal });
  await model.begin();
  if (lifecycle.signal.aborted) return undefined;
  const following = model.follow();
  lifecycle.onStop('history', 1_000, () => {
    waiting.disconnect();
    return following;
  });
  const jobs = new ReloadJobs(redis, keys.prefix);
  const rollouts = new Rollouts(redis, keys.rollouts);
  return [
    { provide: ReadModel, useValue: model },
    { provide: ShownHashes, useValue: hashes },
    { provide: Cursors, useValue: new Cursors(() => hashes.secret) },
    { provide: ReloadJobs, useValue: jobs },
    { provide: ObjectFacts, useValue: new ObjectFacts(redis, catalog) },
    { provide: LiveStates, useValue: new LiveStates({ catalog, rollouts, jobs }) },
  ];
}
