/**
 * Records profiles of this process: where it spends its time, and what allocated its memory. Both are samples of stacks
 * (functions and places in the code). There are no heap snapshots, because they hold every value and so Secrets.
 */
import { Session } from 'node:inspector/promises';
import { setTimeout as pause } from 'node:timers/promises';

export type ProfileKind = 'cpu' | 'heap';

/** Bytes between two samples of the heap. */
const HEAP_INTERVAL = 64 * 1024;

type Recording = (session: Session, wait: () => Promise<void>) => Promise<unknown>;

const RECORDINGS: Readonly<Record<ProfileKind, Recording>> = {
  cpu: async (session, wait) => {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    await wait();
    return (await session.post('Profiler.stop')).profile;
  },
  heap: async (session, wait) => {
    await session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_INTERVAL });
    await wait();
    return (await session.post('HeapProfiler.stopSampling')).profile;
  },
};

/** Records one profile at a time. */
export class Profiler {
  #isBusy = false;

  /**
   * Records for this long, or until the signal fires. Returns the profile as JSON that browsers' developer tools open
   * (`.cpuprofile`, `.heapprofile`), or undefined if one is being recorded already.
   */
  async record(kind: ProfileKind, milliseconds: number, signal: AbortSignal): Promise<string | undefined> {
    if (this.#isBusy) return undefined;
    this.#isBusy = true;
    const session = new Session();
    try {
      session.connect();
      const wait = (): Promise<void> => pause(milliseconds, undefined, { signal }).catch(() => undefined);
      return JSON.stringify(await RECORDINGS[kind](session, wait));
    } finally {
      session.disconnect();
      this.#isBusy = false;
    }
  }
}
