import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects garbage once and gives the memory back to the system. V8 grows its heap while a process starts and
 * while a watcher lists a cluster, and without need keeps what it took for good. Takes some milliseconds, or
 * tenths of a second with hundreds of thousands of objects: for the end of a start, not for work.
 */
export function giveBackMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void;
  collect({ type: 'major', flavor: 'last-resort' });
  setFlagsFromString('--no-expose-gc');
}
