import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { join } from 'node:path';

/**
 * Starts the watchdog of a run: it removes what the run has made when this process ends without having done so,
 * SIGKILL included. Resolve by the function returned, once all is removed.
 */
export function guardRun(run: string): () => Promise<void> {
  const script = join(import.meta.dirname, 'watchdog.ts');
  const child = spawn(process.execPath, [script, run], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Out of the reach of Ctrl-C.
    detached: true,
  });
  const gone = once(child, 'exit').catch(() => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return async () => {
    child.ref();
    child.stdin.end('release');
    await gone;
  };
}
