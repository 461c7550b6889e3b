import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { join } from 'node:path';

/** Ends the servers of a folder when this process ends without having done so. */
export interface Guard {
  /** The servers may outlive this process, or are gone. Safe to repeat. */
  release(): Promise<void>;
}

/**
 * Starts the watchdog of a folder: a small process at the other end of a pipe. The system closes the
 * pipe however this process ends, SIGKILL included, so nothing has to be polled.
 */
export function guard(dir: string): Guard {
  const script = join(import.meta.dirname, 'watchdog.ts');
  const child = spawn(process.execPath, [script, dir, String(process.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Out of the reach of Ctrl-C.
    detached: true,
  });
  const gone = once(child, 'exit').catch(() => {});
  // A write to a watchdog that somebody has killed: then there is nothing to release.
  child.stdin.on('error', () => {});
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return {
    release: async () => {
      child.ref();
      child.stdin.end('release');
      await gone;
    },
  };
}
