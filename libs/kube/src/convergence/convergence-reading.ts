import type { JudgedUse } from '@reroll/core/convergence/conclusion';
import { containerUses, type ContainerUse } from '@reroll/core/convergence/container-uses';
import { isOfStatus, type ContainerStatus, type UsingPod } from '@reroll/core/convergence/pod';
import { sourceWrites, type SourceWrites } from '@reroll/core/convergence/source-writes';
import { isCreatedAround, verdictOf } from '@reroll/core/convergence/verdict';
import { keyOf, type SourceId, type SourceKey } from '@reroll/core/model';
import type { SourceRef } from '@reroll/core/references/pod-uses';
import { METADATA_ONLY, METADATA_ONLY_LIST, type KubeClient } from '../client/connection.ts';
import { KubeError } from '../client/errors.ts';
import { collectionPath, objectPath, type KubeObject, PODS } from '../objects.ts';
import { listPages, type PagedList } from '../reflector/list-pages.ts';
import { sourceKind } from '../sources/registry.ts';
import { SECRET_PROVIDER_CLASSES } from '../sources/secret-provider-class.ts';

/** How one container of a pod uses one source, and whether it has the current data. */
export interface Consumer extends JudgedUse {
  readonly namespace: string;
  readonly source: SourceId;
  /** `stale`: when what it does not have was written. */
  readonly since: string | null;
}

/** A source as it was read. */
export interface ReadSource {
  readonly writes: SourceWrites | 'absent' | 'unreadable';
  /** Unix seconds, by the API server's clock. */
  readonly readAt: number;
}

/** What is needed of a pod to judge its uses, and the uses that are meant. */
export interface Using {
  readonly pod: UsingPod;
  readonly uses: readonly ContainerUse[];
}

export interface ReadPods {
  readonly using: readonly Using[];
  /** False: reading stopped at a limit, and there are more pods. */
  readonly isComplete: boolean;
}

/** Beyond any of these no further page of pods is read. */
export interface ReadingLimits {
  /** Pods a request. */
  readonly pageSize: number;
  /** Bytes of one answer of the API server. */
  readonly bytes: number;
  readonly pods: number;
  readonly uses: number;
  /** Milliseconds for all pages together. */
  readonly time: number;
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
  /** Default: every pod is read, in pages of 500. */
  readonly limits?: ReadingLimits | undefined;
}

/**
 * Reads who uses which source, with the rights of the client: pods, and the metadata of sources, never their data. A round is one
 * request a page of pods, one a source, and one for each write that pods were created around. What is kept of a pod does not grow
 * with its annotations and messages. Methods reject with a `KubeError`.
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
  async pods(namespace: string | undefined, isMeant: (source: SourceRef) => boolean): Promise<ReadPods> {
    const { limits, signal } = this.#options;
    const enough = new AbortController();
    const time = limits === undefined ? [] : [AbortSignal.timeout(limits.time)];
    const list = {
      query: { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' },
      pageSize: limits?.pageSize ?? PAGE_SIZE,
      signal: AbortSignal.any([signal, enough.signal, ...time]),
    };
    const using: Using[] = [];
    let [pods, uses, isComplete] = [0, 0, true];
    const isEnough = (): boolean => limits !== undefined && (pods >= limits.pods || uses >= limits.uses);
    const onPage = (items: readonly KubeObject[]): void => {
      for (const item of items) {
        isComplete &&= !isEnough();
        if (!isComplete) break;
        const found = usingOf(item as KubeObject & UsingPod, isMeant);
        if (found.uses.length > 0) using.push(found);
        pods += 1;
        uses += found.uses.length;
      }
      if (isEnough()) enough.abort();
    };
    try {
      await this.#list(namespace, list, onPage);
    } catch (error) {
      if (limits === undefined || signal.aborted || !isBeyondLimits(error)) throw error;
      isComplete = false;
    }
    return { using, isComplete };
  }

  /** Reads each source that is used once. Call it after `pods`: what was written meanwhile counts as not had. */
  async sourcesOf(using: readonly Using[]): Promise<ReadonlyMap<SourceKey, ReadSource>> {
    const ids = using.flatMap(({ pod, uses }) =>
      uses
        .filter(({ by }) => by !== 'csiVolume')
        .map(({ source }) => ({ ...source, namespace: pod.metadata.namespace })),
    );
    const distinct = new Map(ids.map((id) => [keyOf(id), id] as const));
    const read = [...distinct].map(async ([key, id]) => [key, await this.source(id)] as const);
    return new Map(await Promise.all(read));
  }

  /** Resolves also if it does not exist or may not be read. */
  async source(id: SourceId): Promise<ReadSource> {
    const { client, now, signal } = this.#options;
    const path = objectPath(sourceKind(id.kind) ?? SECRET_PROVIDER_CLASSES, id);
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
    const { signal } = this.#options;
    const list = { query, pageSize: 0, accept: METADATA_ONLY_LIST, signal };
    try {
      await this.#list(namespace, list, (items) => items.forEach(({ metadata }) => uids.add(metadata.uid)));
      return uids;
    } catch (error) {
      const isForgotten = error instanceof KubeError && (error.status === 410 || error.status === 400);
      if (isForgotten || isTooLarge(error)) return undefined;
      throw error;
    }
  }

  async #list(
    namespace: string | undefined,
    how: Pick<PagedList, 'query' | 'pageSize' | 'accept' | 'signal'>,
    onPage: (items: readonly KubeObject[]) => void,
  ): Promise<void> {
    const { client, limits } = this.#options;
    const path = collectionPath(PODS, namespace);
    await listPages({ client, path, maxBytes: limits?.bytes, ...how }, (items) =>
      onPage(items as readonly KubeObject[]),
    );
  }
}

/** Whether a list ended by a limit: before a page, while it was waited for, or because it is too large. */
function isBeyondLimits(error: unknown): boolean {
  return (
    isTooLarge(error) ||
    (error instanceof KubeError && (error.code === 'KUBE_ABORTED' || error.reason === 'Stopped'))
  );
}

function isTooLarge(error: unknown): boolean {
  return error instanceof KubeError && error.code === 'KUBE_BAD_RESPONSE' && error.reason === 'TooLarge';
}

function usingOf(
  { metadata, spec, status }: KubeObject & UsingPod,
  isMeant: (source: SourceRef) => boolean,
): Using {
  const uses = containerUses({ spec }, isMeant);
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  // Without fieldsV1, which is large, an entry still counts as one of the status.
  const managedFields = metadata.managedFields?.filter(isOfStatus).map(({ time }) => ({ time }));
  const using = new Set(uses.map(({ container }) => container));
  const kept = (statuses: readonly ContainerStatus[] | undefined): ContainerStatus[] | undefined =>
    statuses?.filter((each) => using.has(each.name)).map(runningOnly);
  const pod: UsingPod = {
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, managedFields },
    spec: {},
    status: {
      phase: status?.phase,
      conditions: status?.conditions
        ?.filter(({ type }) => type === 'Ready')
        .map(({ type, status: is }) => ({ type, status: is })),
      containerStatuses: kept(status?.containerStatuses),
      initContainerStatuses: kept(status?.initContainerStatuses),
      ephemeralContainerStatuses: kept(status?.ephemeralContainerStatuses),
    },
  };
  return { pod, uses };
}

/** Without messages. */
function runningOnly({ name, state }: ContainerStatus): ContainerStatus {
  const { running, terminated } = state ?? {};
  return {
    name,
    state: {
      running: running && { startedAt: running.startedAt },
      terminated: terminated && { startedAt: terminated.startedAt, exitCode: terminated.exitCode },
    },
  };
}
