import { setTimeout as pause } from 'node:timers/promises';
import { partsOf } from '@reroll/core/model';
import { isNewer, isRv, maxRv, RV_UNKNOWN, type Rv } from '@reroll/core/rv';
import type { KubeClient } from '@reroll/kube/client/connection';
import { collectionPath, type KubeResource } from '@reroll/kube/objects';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { Feed } from './list-filler.ts';

/** What was known of an object before, and what etcd has now. */
export interface OlderObject {
  readonly key: string;
  readonly seenBefore: Rv;
  readonly seenNow: Rv;
}

export interface OlderObjectsContext {
  readonly client: Pick<KubeClient, 'get'>;
  readonly signal: AbortSignal;
  readonly log: Pick<Logger, 'failure'>;
  /** etcd was restored to an earlier state. */
  readonly onRestored: (object: OlderObject) => void;
}

/** So many objects of one list are looked at: each takes a request. */
const CHECKS_PER_LIST = 10;
const ATTEMPTS = 5;
const FIRST_PAUSE = 200;

interface ObjectList {
  readonly metadata: { readonly resourceVersion?: string };
  readonly items: readonly { readonly metadata: { readonly resourceVersion?: string } }[];
}

/**
 * Finds out by single objects that etcd was restored, where the Lease cannot tell: it was written since, or no watcher
 * ran. A list that shows an object as older than it was known is only a hint, for the catalog may be ahead of a list. A
 * quorum read that begins after that is proof: in one history of etcd it cannot be older.
 */
export class OlderObjects {
  readonly #context: OlderObjectsContext;
  #isRestored = false;

  constructor(context: OlderObjectsContext) {
    this.#context = context;
  }

  /** Resolves when it is known whether etcd was restored, or cannot be found out. Never rejects. */
  async check(resource: KubeResource, key: string, seenBefore: Rv): Promise<void> {
    const { signal, log, onRestored } = this.#context;
    for (let attempt = 1; attempt <= ATTEMPTS && !signal.aborted && !this.#isRestored; attempt += 1) {
      try {
        const seenNow = await this.#readNow(resource, key);
        if (seenNow === undefined || !isNewer(seenBefore, seenNow) || this.#isRestored) return;
        this.#isRestored = true;
        onRestored({ key, seenBefore, seenNow });
        return;
      } catch (error) {
        log.failure('an object that seems older than before cannot be read', error, { key });
        await pause(FIRST_PAUSE * 2 ** attempt, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** The resourceVersion of the object or, if it is not there, of etcd; undefined if that cannot be compared. */
  async #readNow(resource: KubeResource, key: string): Promise<Rv | undefined> {
    const { namespace, name } = partsOf(key);
    const { body } = await this.#context.client.get<ObjectList>(collectionPath(resource, namespace), {
      query: { fieldSelector: `metadata.name=${name}` },
      signal: this.#context.signal,
    });
    const rv = (body.items[0] ?? body).metadata.resourceVersion;
    return isRv(rv) ? rv : undefined;
  }
}

/**
 * That of the object's own last write. A source that is gone has perhaps that of the list which did not show it: it may
 * be shown again with its old one, as a Secret of a type that is not ignored any more.
 */
export function writtenRv(row: { readonly rv: Rv; readonly exists?: boolean } | undefined): Rv | undefined {
  return row?.exists === false ? undefined : row?.rv;
}

/** The same feed, which has objects of its lists checked that are older than what was known of them. */
export function comparedWithKnown<
  Seen extends { readonly key: string },
  Row extends { readonly rv: Rv; readonly exists?: boolean },
>(
  feed: Feed<Seen, Row>,
  by: {
    /** Undefined: nothing is known, or it is not of this object alone. */
    readonly heldRv: (key: string) => Rv | undefined;
    readonly rvOf: (seen: Seen) => Rv;
    readonly check: (key: string, seenBefore: Rv) => Promise<void>;
  },
): Feed<Seen, Row> {
  let checks = 0;
  const check = async (key: string, known: Rv, seen: Rv): Promise<void> => {
    if (!isNewer(known, seen) || checks >= CHECKS_PER_LIST) return;
    checks += 1;
    await by.check(key, known);
  };
  return {
    ...feed,
    listBegins: () => {
      checks = 0;
      feed.listBegins();
    },
    found: async (portion) => {
      for (const seen of portion.objects) {
        const inCatalog = writtenRv(portion.catalog.get(seen.key)) ?? RV_UNKNOWN;
        await check(seen.key, maxRv(by.heldRv(seen.key) ?? RV_UNKNOWN, inCatalog), by.rvOf(seen));
      }
      await feed.found(portion);
    },
    listed: async (list) => {
      for (const [key, row] of list.catalog) await check(key, writtenRv(row) ?? RV_UNKNOWN, list.rv);
      await feed.listed(list);
    },
  };
}
