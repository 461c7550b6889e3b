import type { Reflector } from '@reroll/kube/reflector/reflector';

/** So long (ms) others wait for the first lists of a namespace; then it goes on beside them. */
const TURN = 10_000;

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

export interface NamespaceStreamsContext {
  readonly sources: StreamGroup;
  readonly workloads: StreamGroup;
  /** To be fired at the end: what these streams still had under way is told to nobody then. */
  readonly ending: AbortController;
}

/** What is followed of one namespace, or (`''`) of all, besides the kinds whose API may be missing. */
export class NamespaceStreams {
  readonly #context: NamespaceStreamsContext;
  #isLate = false;

  constructor(context: NamespaceStreamsContext) {
    this.#context = context;
  }

  /** Its first lists are under way, and have not taken long. */
  get isBusy(): boolean {
    return !this.isListed && !this.#isLate;
  }

  get areSourcesListed(): boolean {
    return this.#context.sources.isListed;
  }

  get isListed(): boolean {
    return this.#context.sources.isListed && this.#context.workloads.isListed;
  }

  get isSynced(): boolean {
    return this.#context.sources.isSynced && this.#context.workloads.isSynced;
  }

  get isEnded(): boolean {
    return this.#context.ending.signal.aborted;
  }

  /**
   * Lists sources, then workloads, and follows both from there. Sources first, because the dependencies of a workload
   * are dated by how far the sources were known when it was listed. `onSources` is called between the two,
   * `onWorkloads` after both, `onTurn` whenever others may have their turn. Resolves when all are known, or at the end.
   */
  async follow(by: { onSources: () => void; onWorkloads: () => void; onTurn: () => void }): Promise<void> {
    const { sources, workloads } = this.#context;
    await this.#list(sources, by.onTurn);
    if (this.isEnded) return;
    by.onSources();
    await this.#list(workloads, by.onTurn);
    if (!this.isEnded) by.onWorkloads();
    by.onTurn();
  }

  async stop(timeout: number): Promise<void> {
    this.#context.ending.abort();
    await Promise.all([this.#context.sources.stop(timeout), this.#context.workloads.stop(timeout)]);
  }

  async #list(group: StreamGroup, onTurn: () => void): Promise<void> {
    group.start();
    while (!group.isListed && !(await group.waitSynced(TURN)) && !this.isEnded) {
      this.#isLate = true;
      onTurn();
    }
  }
}
