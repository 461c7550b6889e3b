import { containerUses, type ContainerUse, type UseKind } from '@reroll/core/convergence/container-uses';
import type { UsingPod } from '@reroll/core/convergence/pod';
import { sourceWrites, type SourceWrites } from '@reroll/core/convergence/source-writes';
import { isCreatedAround, verdictOf } from '@reroll/core/convergence/verdict';
import { keyOf, type SourceKey } from '@reroll/core/model';
import { METADATA_ONLY, METADATA_ONLY_LIST, type KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { collectionPath, objectPath, type KubeObject, PODS } from '@reroll/kube/objects';
import { listPages, type PagedList } from '@reroll/kube/reflector/list-pages';
import { sourceKind } from '@reroll/kube/sources/registry';
import { SECRET_PROVIDER_CLASSES } from '@reroll/kube/sources/secret-provider-class';
import type { SourceRef } from '../args/object-ref.ts';

/** How one container of a pod uses one source, and whether it has the present data. */
export interface Consumer {
  readonly namespace: string;
  readonly pod: string;
  /** Null: the pod as a whole, which pulls images with it. */
  readonly container: string | null;
  readonly source: SourceRef;
  readonly use: UseKind;
  readonly state: 'current' | 'stale' | 'unknown';
  /** `stale`: when what it does not have was written. */
  readonly since: string | null;
  readonly why: string;
}

/** A source as it was read. */
export interface ReadSource {
  readonly writes: SourceWrites | 'absent' | 'unreadable';
  /** Unix seconds, by the API server's clock. */
  readonly readAt: number;
}

/** A pod, and its uses that matter. */
export interface Using {
  readonly pod: UsingPod;
  readonly uses: readonly ContainerUse[];
}

const PAGE_SIZE = 500;
/** The API server answers for what was a few minutes ago; it is not asked about what was long before. */
const KEEPS_HISTORY = 1_800;

interface ReadingOptions {
  readonly client: Pick<KubeClient, 'get'>;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Seconds. */
  readonly delay: number;
}

/**
 * Reads who uses which source, with the caller's own rights: pods, and the metadata of sources, never their data. A round is one
 * request a page of 500 pods and one a source. Methods reject with a `KubeError`.
 */
export class ConvergenceReading {
  readonly #options: ReadingOptions;
  /** When each resourceVersion of a source was first read. */
  readonly #seenAt = new Map<string, number>();
  /** The uids of the pods that were there at a resourceVersion; what was does not change. */
  readonly #pastPods = new Map<string, Promise<ReadonlySet<string> | undefined>>();

  constructor(options: ReadingOptions) {
    this.#options = options;
  }

  /** `namespace`: default all. Pods that have ended are not listed. */
  async pods(
    namespace: string | undefined,
    isMeant: (use: ContainerUse, namespace: string) => boolean,
  ): Promise<Using[]> {
    const found: Using[] = [];
    const query = { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' };
    await this.#list(namespace, { query, pageSize: PAGE_SIZE }, (item) => {
      const { metadata, spec, status } = item as KubeObject & UsingPod;
      const uses = containerUses({ spec }).filter((use) => isMeant(use, metadata.namespace));
      const { managedFields: _managedFields, ...kept } = metadata;
      if (uses.length > 0) found.push({ pod: { metadata: kept, spec: {}, status }, uses });
    });
    return found;
  }

  /** Resolves also if it does not exist or may not be read. */
  async source(ref: SourceRef): Promise<ReadSource> {
    const { client, now, signal } = this.#options;
    const path = objectPath(sourceKind(ref.kind) ?? SECRET_PROVIDER_CLASSES, ref);
    const readAt = Math.floor(now() / 1000);
    try {
      const { body, date } = await client.get<KubeObject>(path, { accept: METADATA_ONLY, signal });
      return {
        writes: sourceWrites(body.metadata),
        readAt: date === undefined ? readAt : Math.floor(date / 1000),
      };
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.status === 404) return { writes: 'absent', readAt };
      if (error.status === 403) return { writes: 'unreadable', readAt };
      throw error;
    }
  }

  /** Judges each use; without those of containers that do not run. */
  async consumers(using: readonly Using[], sources: ReadonlyMap<SourceKey, ReadSource>): Promise<Consumer[]> {
    const found: Consumer[] = [];
    for (const { pod, uses } of using) {
      for (const use of uses) {
        const consumer = await this.#consumer(pod, use, sources);
        if (consumer !== undefined) found.push(consumer);
      }
    }
    return found;
  }

  async #consumer(
    pod: UsingPod,
    use: ContainerUse,
    sources: ReadonlyMap<SourceKey, ReadSource>,
  ): Promise<Consumer | undefined> {
    const { namespace, name } = pod.metadata;
    const source = { ...use.source, namespace };
    const key = keyOf(source);
    const { writes, readAt } = sources.get(key) ?? { writes: 'absent', readAt: 0 };
    const verdict = verdictOf(use, {
      pod,
      source: writes,
      now: readAt,
      seenAt: typeof writes === 'string' ? readAt : this.#firstSeen(`${key}/${writes.rv}`, readAt),
      delay: this.#options.delay,
      existedAtLastWrite: typeof writes === 'string' ? undefined : await this.#existed(pod, writes, readAt),
    });
    if (verdict === null) return undefined;
    const { state, since, why } = verdict;
    const at = since === null ? null : new Date(since * 1000).toISOString();
    return { namespace, pod: name, container: use.container, source, use: use.by, state, since: at, why };
  }

  #firstSeen(version: string, now: number): number {
    const seen = this.#seenAt.get(version) ?? now;
    this.#seenAt.set(version, seen);
    return seen;
  }

  async #existed({ metadata }: UsingPod, writes: SourceWrites, now: number): Promise<boolean | undefined> {
    const { uid, namespace } = metadata;
    if (!isCreatedAround({ metadata, spec: {} }, writes)) return undefined;
    const key = `${namespace}/${writes.rv}`;
    const isRecent = now - writes.lastAt < KEEPS_HISTORY;
    const past = this.#pastPods.get(key) ?? (isRecent ? this.#podsAt(namespace, writes.rv) : undefined);
    if (past === undefined) return undefined;
    this.#pastPods.set(key, past);
    return (await past)?.has(uid);
  }

  /** Undefined: the API server has forgotten. */
  async #podsAt(namespace: string, rv: string): Promise<ReadonlySet<string> | undefined> {
    const uids = new Set<string>();
    const query = { resourceVersion: rv, resourceVersionMatch: 'Exact' };
    // All in one page: the API server takes neither with the token of a next one.
    const list = { query, pageSize: 0, accept: METADATA_ONLY_LIST };
    try {
      await this.#list(namespace, list, ({ metadata }) => uids.add(metadata.uid));
      return uids;
    } catch (error) {
      if (error instanceof KubeError && (error.status === 410 || error.status === 400)) return undefined;
      throw error;
    }
  }

  async #list(
    namespace: string | undefined,
    how: Pick<PagedList, 'query' | 'pageSize' | 'accept'>,
    onItem: (item: KubeObject) => void,
  ): Promise<void> {
    const { client, signal } = this.#options;
    const path = collectionPath(PODS, namespace);
    await listPages({ client, path, signal, ...how }, (items) =>
      items.forEach((item) => onItem(item as KubeObject)),
    );
  }
}
