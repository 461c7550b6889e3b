import { markerHash } from '@reroll/core/marker/marker-hash';
import { type KubeClient, MERGE_PATCH } from '@reroll/kube/client/connection';
import { objectPath } from '@reroll/kube/objects';
import { persistently } from './api.ts';
import { forEach } from './each.ts';
import { CONFIG_MAPS } from './kinds.ts';
import { dataOf } from './manifests.ts';
import type { RolloutLog } from './measure/rollout-log.ts';
import { type Source, idText } from './work.ts';
import type { WorkSet } from './work-set.ts';

/** Writes sources, and tells a log what has to come of it. */
export class Changer {
  readonly #client: KubeClient;
  readonly #set: WorkSet;
  readonly #log: RolloutLog;
  readonly #signal: AbortSignal;

  constructor(client: KubeClient, set: WorkSet, by: { log: RolloutLog; signal: AbortSignal }) {
    this.#client = client;
    this.#set = set;
    this.#log = by.log;
    this.#signal = by.signal;
  }

  /** Opens as many connections as will be needed, so that no handshake is in the time measured. */
  async warmUp(sources: readonly Source[], concurrency: number): Promise<void> {
    const first = sources.slice(0, concurrency);
    await forEach(first, { concurrency, signal: this.#signal }, async (source) => {
      await this.#client.get(objectPath(CONFIG_MAPS, source));
    });
  }

  /** Gives a source data that it never had. */
  async change(source: Source): Promise<void> {
    const value = crypto.randomUUID();
    const data = dataOf(value);
    const hash = markerHash('ConfigMap', { data });
    const changedAt = performance.now();
    for (const id of source.workloads) this.#log.expect({ workload: idText(id), hash, changedAt });
    this.#set.values.set(idText(source), value);
    const path = objectPath(CONFIG_MAPS, source);
    await persistently(() => this.#client.patch(path, { data }, { contentType: MERGE_PATCH }));
  }

  async changeAll(sources: readonly Source[], concurrency: number): Promise<void> {
    await forEach(sources, { concurrency, signal: this.#signal }, async (source) => {
      await this.change(source);
    });
  }
}
