import { setTimeout as pause } from 'node:timers/promises';
import { KubeError } from '@reroll/kube/client/errors';

const RETRY = 100;
const PATIENCE = 60_000;

/**
 * Repeats a request until the API server takes it: it may be down, on purpose. For requests that may arrive
 * twice.
 */
export async function persistently<T>(request: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    try {
      return await request();
    } catch (error) {
      const mayHelp = error instanceof KubeError && (error.retryable || error.status === 0);
      if (!mayHelp || performance.now() > deadline) throw error;
      await pause(RETRY);
    }
  }
}
