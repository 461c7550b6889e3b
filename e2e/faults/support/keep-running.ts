import { cleanUp } from '../../support/cleanup.ts';
import type { App } from '../../support/processes.ts';
import type { Kind, Reroll } from '../../support/reroll.ts';

/**
 * Starts another process for each that ends, as a kubelet does, until the test ends or the result is called. A control plane that
 * is slow to come back may cost a leader its Lease, and then it ends by itself.
 */
export function keepRunning(reroll: Reroll, kinds: readonly Kind[] = ['watcher']): () => void {
  let isOver = false;
  const stop = (): void => {
    isOver = true;
  };
  cleanUp(stop);
  const keep = async (kind: Kind, app: App): Promise<void> => {
    await app.exited;
    if (!isOver) void keep(kind, reroll.start(kind));
  };
  for (const kind of kinds) {
    for (const app of reroll[`${kind}s`]) if (app.isRunning) void keep(kind, app);
  }
  return stop;
}
