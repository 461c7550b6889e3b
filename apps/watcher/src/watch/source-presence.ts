import { partsOf, type SourceId, type SourceKey } from '@reroll/core/model';
import { Backoff } from '@reroll/kube/client/backoff';
import { pause, systemClock } from '@reroll/kube/client/clock';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { objectPath } from '@reroll/kube/objects';
import { sourceKind } from '@reroll/kube/sources/registry';

export interface SourcePresenceContext {
  readonly client: Pick<KubeClient, 'get'>;
  readonly onRetry: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/**
 * Tells a source that was deleted from one that only lost the labels by which it is watched: to a stream with a
 * label selector both are a deletion, told with the object as it was before.
 */
export class SourcePresence {
  readonly #context: SourcePresenceContext;

  constructor(context: SourcePresenceContext) {
    this.#context = context;
  }

  /** Asks until the API server answers. At the end of the process it is "yes", by which nothing is concluded. */
  async isThere(key: SourceKey): Promise<boolean> {
    const { signal, onRetry } = this.#context;
    const backoff = new Backoff();
    while (!signal.aborted) {
      try {
        return await this.#ask(key);
      } catch (error) {
        onRetry(error);
        await pause(systemClock, backoff.next(), signal);
      }
    }
    return true;
  }

  /** Those of the keys that are there. */
  async thoseThere(keys: Iterable<SourceKey>): Promise<SourceKey[]> {
    const found: SourceKey[] = [];
    for (const key of keys) if (await this.isThere(key)) found.push(key);
    return found;
  }

  async #ask(key: SourceKey): Promise<boolean> {
    const { client, signal } = this.#context;
    const id = partsOf(key) as SourceId;
    const definition = sourceKind(id.kind);
    if (!definition) return true;
    try {
      await client.get(objectPath(definition, id), { signal });
      return true;
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return false;
      throw error;
    }
  }
}
