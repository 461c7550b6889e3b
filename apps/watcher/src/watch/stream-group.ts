import type { Reflector } from '@reroll/kube/reflector/reflector';

/** Milliseconds that other namespaces wait for one namespace's first lists. After that they go on beside it. */
const TURN = 10_000;

export type Stream = Pick<Reflector<unknown>, 'start' | 'stop' | 'waitSynced' | 'status'>;

export class StreamGroup {
  readonly #streams: readonly Stream[];
  #hasListed = false;

  constructor(streams: readonly Stream[]) {
    this.#streams = streams;
  }

  start(): void {
    for (const stream of this.#streams) stream.start();
  }

  /** Whether every list has been complete once. */
  get isListed(): boolean {
    this.#hasListed ||= this.#isSyncedNow();
    return this.#hasListed;
  }

  /** Whether the lists are complete and without a gap. Also true before the first of them, for which nothing waits. */
  get isSynced(): boolean {
    return !this.isListed || this.#isSyncedNow();
  }

  /** Resolves with true once all streams are in sync; with false if one was not within `timeout` ms, or was stopped. */
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
  /** Fired at the end; what is still under way is then dropped. */
  readonly ending: AbortController;
}

/** The streams of one namespace (`''`: of all), except those of kinds whose API may be missing. */
export class NamespaceStreams {
  readonly #context: NamespaceStreamsContext;
  #isLate = false;

  constructor(context: NamespaceStreamsContext) {
    this.#context = context;
  }

  /** Whether its first lists are under way and have not taken long. */
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
   * Lists sources, then workloads, and watches both from there. Sources come first, because a workload's dependencies are
   * dated by how far the sources were known when it was listed. Calls `onSources` after the sources, `onWorkloads` after
   * the workloads, and `onTurn` whenever other namespaces may start. Resolves when both are listed, or when stopped.
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
