import { setTimeout as pause } from 'node:timers/promises';
import { partsOf, type Key } from '@reroll/core/model';
import { isNewer, isRv, type Rv } from '@reroll/core/rv';
import type { KubeClient } from '@reroll/kube/client/connection';
import { collectionPath, type KubeResource } from '@reroll/kube/objects';
import type { Logger } from '@reroll/shared/platform/logging/logging';

/** The resourceVersion at which an object was known, and the older one that etcd has now. */
export interface OlderObject {
  readonly key: string;
  readonly seenBefore: Rv;
  readonly seenNow: Rv;
}

export interface OlderObjectsContext {
  readonly client: Pick<KubeClient, 'get'>;
  readonly signal: AbortSignal;
  readonly log: Pick<Logger, 'failure'>;
  /** Called once if etcd was restored to an earlier state. */
  readonly onRestored: (object: OlderObject) => void;
}

const ATTEMPTS = 5;
const FIRST_PAUSE = 200;

interface ObjectList {
  readonly metadata: { readonly resourceVersion?: string };
  readonly items: readonly { readonly metadata: { readonly resourceVersion?: string } }[];
}

/**
 * Detects a restored etcd by single objects, where the Lease cannot show it: the Lease was written since, or no watcher
 * was running. A list that shows an object as older than it was known is only a hint, because the catalog may be ahead of
 * the list. A quorum read that begins after that is proof: without a restore it cannot return an older object.
 */
export class OlderObjects {
  readonly #context: OlderObjectsContext;
  #isRestored = false;

  constructor(context: OlderObjectsContext) {
    this.#context = context;
  }

  /** Resolves when it is known whether etcd was restored, or after the last attempt. Never rejects. */
  async check(resource: KubeResource, key: Key<string>, seenBefore: Rv): Promise<void> {
    const { signal, log, onRestored } = this.#context;
    for (let attempt = 1; attempt <= ATTEMPTS && !signal.aborted && !this.#isRestored; attempt += 1) {
      try {
        const seenNow = await this.#readNow(resource, key);
        if (seenNow === undefined || !isNewer(seenBefore, seenNow) || this.#isRestored) return;
        this.#isRestored = true;
        onRestored({ key, seenBefore, seenNow });
        return;
      } catch (error) {
        log.failure('cannot read an object that a list showed as older than before', error, { key });
        await pause(FIRST_PAUSE * 2 ** attempt, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** The resourceVersion of the object or, if it does not exist, of etcd; undefined if it cannot be compared. */
  async #readNow(resource: KubeResource, key: Key<string>): Promise<Rv | undefined> {
    const { namespace, name } = partsOf(key);
    const { body } = await this.#context.client.get<ObjectList>(collectionPath(resource, namespace), {
      query: { fieldSelector: `metadata.name=${name}` },
      signal: this.#context.signal,
    });
    const rv = (body.items[0] ?? body).metadata.resourceVersion;
    return isRv(rv) ? rv : undefined;
  }
}
