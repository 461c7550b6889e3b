import type { StreamGroup } from './stream-group.ts';

/** So long (ms) others wait for the first lists of a namespace; then it goes on beside them. */
const TURN = 10_000;

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
