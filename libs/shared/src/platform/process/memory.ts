import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds after a call of `giveBackMemorySoon` until it acts. */
const SOON_MS = 2_000;
/** A heap of fewer bytes has little to give back: that of a process that has just started. */
const LITTLE = 64 * 1024 * 1024;

let timer: NodeJS.Timeout | undefined;

/**
 * Collects garbage once and returns the memory to the system, two seconds after the last call. V8 grows its heap while a
 * process starts and while a watcher lists a cluster, and keeps that memory without need. It takes a tenth of a second
 * in a small process, and several with hundreds of thousands of objects: call it at the end of a start, which it does not delay.
 */
export function giveBackMemorySoon(): void {
  clearTimeout(timer);
  timer = setTimeout(collect, SOON_MS);
  timer.unref();
}

/** Does the same at once, if the heap is larger than 64 MiB: for the garbage between two steps of a long start. */
export function giveBackMuchMemory(): void {
  if (getHeapStatistics().total_heap_size > LITTLE) collect();
}

/** From now on, V8 collects all garbage whenever the heap has grown by a fifth. By default, it lets the heap grow much further. */
export function growHeapSlowly(): void {
  setFlagsFromString('--heap-growing-percent=20');
}

function collect(): void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void;
  gc({ type: 'major', flavor: 'last-resort' });
  setFlagsFromString('--no-expose-gc');
}
