import type { Reflector } from '@reroll/kube/reflector/reflector';

export type Stream = Pick<Reflector<unknown>, 'start' | 'stop' | 'waitSynced' | 'status'>;

/** Streams that begin and end together. */
export class StreamGroup {
  readonly #streams: readonly Stream[];
  #hasListed = false;

  constructor(streams: readonly Stream[]) {
    this.#streams = streams;
  }

  start(): void {
    for (const stream of this.#streams) stream.start();
  }

  /** Each list was complete once. */
  get isListed(): boolean {
    this.#hasListed ||= this.#isSyncedNow();
    return this.#hasListed;
  }

  /** The lists are complete and go on without a gap. True also before the first of them, for which nobody waits. */
  get isSynced(): boolean {
    return !this.isListed || this.#isSyncedNow();
  }

  /** True as soon as all of them are in sync; false if one was not so within `timeout` ms, or was stopped. */
  async waitSynced(timeout: number): Promise<boolean> {
    const each = await Promise.all(this.#streams.map((stream) => stream.waitSynced(timeout)));
    this.#hasListed ||= each.every(Boolean);
    return each.every(Boolean);
  }

  async stop(timeout: number): Promise<void> {
    await Promise.all(this.#streams.map((stream) => stream.stop(timeout)));
  }

  #isSyncedNow(): boolean {
    return this.#streams.every(({ status }) => status.synced);
  }
}
