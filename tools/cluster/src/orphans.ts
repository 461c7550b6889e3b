import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

/** The system closes the pipe to it however this process ends, SIGKILL included; a line before that calls it off. */
const ONCE_ALONE = 'read -r _ || kill -s INT -- "-$1"';

/** Interrupts a process group, if there is one, should this process end before the returned function is called. */
export function interruptOnceAlone(group: number | undefined): () => void {
  if (group === undefined) return () => {};
  const watch = spawn('/bin/sh', ['-c', ONCE_ALONE, 'sh', String(group)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Out of the reach of Ctrl-C.
    detached: true,
  });
  watch.on('error', () => {});
  watch.stdin.on('error', () => {});
  watch.unref();
  if (watch.stdin instanceof Socket) watch.stdin.unref();
  return () => void watch.stdin.end('\n');
}
