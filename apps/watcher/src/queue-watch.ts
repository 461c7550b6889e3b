import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import type { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { QUEUES, type Queues } from '@reroll/redis/queue/queues';

/** How often the queues are looked at, in milliseconds. */
const INTERVAL = 15_000;

/**
 * Measures the queues while this watcher leads, and brings forward what waits only because clocks differ. The leader does it, so that a
 * sum over all processes is right and a queue without workers is noticed.
 */
export function watchQueues(by: {
  readonly queues: Queues;
  readonly metrics: WatcherMetrics;
  readonly lifecycle: Lifecycle;
  readonly log: Logger;
}): void {
  const look = (): void => {
    measureQueues(by.queues, by.metrics).catch((error: unknown) => {
      forgetFigures(by.metrics);
      by.log.failure('cannot measure the queues', error);
    });
    bringForwardMisdated(by.queues).catch((error: unknown) =>
      by.log.failure('cannot bring forward misdated jobs', error),
    );
  };
  look();
  const timer = setInterval(look, INTERVAL);
  by.lifecycle.onStop('measuring of the queues', 500, () => clearInterval(timer));
}

async function bringForwardMisdated(queues: Queues): Promise<void> {
  const now = Date.now();
  await Promise.all([
    queues.bringForwardMisdated('changes', now),
    queues.bringForwardMisdated('reloads', now),
  ]);
}

async function measureQueues(queues: Queues, metrics: WatcherMetrics): Promise<void> {
  const [changes, reloads, measured] = await Promise.all([
    queues.waiting('changes'),
    queues.waiting('reloads'),
    Promise.all(
      QUEUES.map(async (queue) => ({
        queue,
        ready: await queues.ready(queue),
        oldest: await queues.oldestDue(queue, Date.now()),
      })),
    ),
  ]);
  metrics.workqueueDepth.set(changes + reloads);
  for (const { queue, ready, oldest } of measured) {
    metrics.queueReady.set({ queue }, ready);
    metrics.queueOldest.set({ queue }, oldest / 1_000);
  }
}

/** Figures of the past would look like those of now. */
function forgetFigures({ workqueueDepth, queueReady, queueOldest }: WatcherMetrics): void {
  workqueueDepth.remove();
  queueReady.reset();
  queueOldest.reset();
}
