import type { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import type { QueueBase } from 'bullmq';

/**
 * Ends the process, with exit code 1, if BullMQ cannot use one of the queues. BullMQ asks Redis for its version when it opens a
 * queue. If that call fails, every later call of the queue rejects, even when Redis answers again.
 */
export function endIfUnusable(lifecycle: Lifecycle, queues: readonly QueueBase[]): void {
  for (const queue of queues)
    queue.waitUntilReady().catch((error: unknown) => {
      if (!queue.closing) void lifecycle.fail(`The queue ${queue.name} cannot be used`, error);
    });
}
