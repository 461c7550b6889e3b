import { inTurns } from './in-turns.ts';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import { isWithin, type Scope } from '@reroll/core/state/listed';
import type { ObservedSource, SourceRow } from '@reroll/core/state/rows';
import { partsOf, type SourceKey, type SourceKind } from '@reroll/core/model';
import { Backoff } from '@reroll/kube/client/backoff';
import { pause, systemClock } from '@reroll/kube/client/clock';
import { METADATA_ONLY, type KubeClient } from '@reroll/kube/client/connection';
import { errorClass, KubeError } from '@reroll/kube/client/errors';
import { objectPath, type KubeObject } from '@reroll/kube/objects';
import type { EventHandler, ShownBy } from '@reroll/kube/reflector/delivery';
import { sourceKind } from '@reroll/kube/sources/registry';
import type { StreamTargets, WatchedNamespace } from './kind-streams.ts';
import type { ListEnd, Listing } from './listing.ts';
import type { StreamReports } from './stream-reports.ts';
import { ASKED_AT_ONCE, UnclearDeletions } from './unclear-deletions.ts';

type SourceHandlerContext = Pick<StreamTargets, 'clusterState' | 'certificates' | 'changed'> & {
  readonly listing: Listing<SourceKey, SourceRow>;
  readonly reports: Pick<StreamReports, 'unchanged' | 'received' | 'hooks'>;
  /** Defined only if the stream has a label selector. */
  readonly presence: SourcePresence | undefined;
};

interface Hidden {
  /** Each has an unclear deletion, whose answer also tells when. */
  readonly unclear: readonly SourceKey[];
  /** They only lost their labels. */
  readonly unwatched: ReadonlySet<SourceKey>;
}

/** Passes what a stream of sources shows to the cluster state. */
export class SourceHandler implements EventHandler<ObservedSource> {
  readonly #scope: Scope & { readonly kind: SourceKind };
  /** Once this has fired, events are dropped, because the cluster state has forgotten the namespace. */
  readonly #ended: AbortSignal;
  readonly #context: SourceHandlerContext;
  readonly #unclear: UnclearDeletions | undefined;

  constructor(kind: SourceKind, { name, ended }: WatchedNamespace, context: SourceHandlerContext) {
    this.#scope = { kind, namespace: name };
    this.#ended = ended;
    this.#context = context;
    const { presence } = context;
    this.#unclear =
      presence &&
      new UnclearDeletions({
        isThere: (key, uid) => presence.isThere(key, uid),
        deleted: (key, { rv }) =>
          this.#told(key, (clusterState) => clusterState.sourceDeleted(key, rv, this.#scope)),
        unwatched: (key, { rv }) => this.#told(key, (clusterState) => clusterState.sourceUnwatched(key, rv)),
      });
  }

  replace(): void {
    this.#context.listing.begin();
  }

  upsert(objects: readonly ObservedSource[], by: ShownBy): void | Promise<void> {
    if (by === 'list') return this.#found(objects);
    if (this.#ended.aborted) return;
    const { clusterState, reports } = this.#context;
    for (const seen of objects) {
      this.#clear(seen);
      if (clusterState.sources.get(seen.key)?.hash === seen.hash) reports.unchanged();
      clusterState.sourceWritten(seen, this.#scope);
    }
    this.#noteCertificates(objects);
    this.#updated(by);
  }

  delete({ key, rv, uid }: ObservedSource): void {
    const { clusterState, listing } = this.#context;
    if (listing.drop(key) || this.#ended.aborted) return;
    if (this.#unclear) this.#unclear.add(key, { rv, uid });
    else clusterState.sourceDeleted(key, rv, this.#scope);
    this.#updated('DELETED');
  }

  async synced(resourceVersion: string, unread: readonly string[]): Promise<void> {
    const { clusterState, listing, changed } = this.#context;
    const list = await listing.end(resourceVersion, unread);
    const { unclear, unwatched } = await this.#hiddenFrom(list);
    if (!this.#ended.aborted) {
      const end = { ...list, unread: [...(list.unread ?? []), ...unclear], unwatched };
      await inTurns(clusterState.sourceListEnds(end), { ended: this.#ended });
    }
    listing.ended();
    changed();
  }

  async #found(objects: readonly ObservedSource[]): Promise<void> {
    const { clusterState, listing, changed } = this.#context;
    const catalog = await listing.rowsOf(objects);
    if (!catalog || this.#ended.aborted) return;
    for (const seen of objects) this.#clear(seen);
    clusterState.sourcesFound({ scope: this.#scope, objects, catalog });
    this.#noteCertificates(objects);
    listing.found(objects);
    changed();
  }

  /** An older sighting than the cluster state has counts for nothing. */
  #noteCertificates(objects: readonly ObservedSource[]): void {
    const { clusterState, certificates } = this.#context;
    for (const seen of objects)
      if (clusterState.sources.get(seen.key)?.hash === seen.hash) certificates.seen(seen);
  }

  /** Sources that a list with a label selector no longer shows, but that are not known to be deleted. Their rows stay. */
  async #hiddenFrom(list: ListEnd<SourceKey, SourceRow>): Promise<Hidden> {
    const { presence } = this.#context;
    const hidden = { unclear: [] as SourceKey[], unwatched: new Set<SourceKey>() };
    const missing = presence ? this.#missingFrom(list) : [];
    const work = async (): Promise<void> => {
      for (let key = missing.pop(); key !== undefined; key = missing.pop())
        if (this.#unclear?.has(key)) hidden.unclear.push(key);
        else if (await presence?.isThere(key)) hidden.unwatched.add(key);
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, work));
    return hidden;
  }

  #missingFrom(list: ListEnd<SourceKey, SourceRow>): SourceKey[] {
    const { clusterState } = this.#context;
    const known = new Set([...clusterState.sourcesIn(this.#scope), ...list.catalog.keys()]);
    const shown = new Set([...list.found, ...(list.unread ?? [])]);
    return [...known].filter((key) => {
      const row = clusterState.sources.get(key) ?? list.catalog.get(key);
      return row?.exists === true && !shown.has(key) && isWithin(this.#scope, key);
    });
  }

  /** The stream shows the source again: if it is another object, the one before it was deleted. */
  #clear({ key, uid }: ObservedSource): void {
    const deletion = this.#unclear?.take(key);
    if (deletion && deletion.uid !== uid)
      this.#context.clusterState.sourceDeleted(key, deletion.rv, this.#scope);
  }

  /** Tells the cluster state of the answer to an unclear deletion. */
  #told(key: SourceKey, tell: (clusterState: ClusterState) => void): void {
    const { clusterState, changed, reports } = this.#context;
    if (this.#ended.aborted) return;
    try {
      tell(clusterState);
      changed();
    } catch (error) {
      const { namespace, name } = partsOf(key);
      const failure = {
        key: `${namespace}/${name}`,
        step: 'changed',
        errorClass: errorClass(error),
      } as const;
      reports.hooks(this.#scope.kind, this.#scope.namespace).onHandlerError?.(failure);
    }
  }

  #updated(type: 'ADDED' | 'MODIFIED' | 'DELETED'): void {
    this.#context.reports.received(this.#scope.kind, type);
    this.#context.changed();
  }
}

/**
 * Distinguishes a deleted source from one that only lost the labels of the selector. A watch with a label selector
 * reports both as a deletion, with the object as it was before.
 */
export class SourcePresence {
  readonly #client: Pick<KubeClient, 'get'>;
  readonly #signal: AbortSignal;
  readonly #onRetry: (error: unknown) => void;

  constructor(client: Pick<KubeClient, 'get'>, signal: AbortSignal, onRetry: (error: unknown) => void) {
    this.#client = client;
    this.#signal = signal;
    this.#onRetry = onRetry;
  }

  /**
   * Retries until the API server answers. Returns true when the stream ends, because nothing is concluded from that. With a `uid`, a
   * source that was deleted and created again is not there.
   */
  async isThere(key: SourceKey, uid?: string): Promise<boolean> {
    const backoff = new Backoff();
    while (!this.#signal.aborted) {
      try {
        return await this.#ask(key, uid);
      } catch (error) {
        this.#onRetry(error);
        await pause(systemClock, backoff.next(), this.#signal);
      }
    }
    return true;
  }

  async #ask(key: SourceKey, uid: string | undefined): Promise<boolean> {
    const id = partsOf(key);
    const definition = sourceKind(id.kind);
    if (!definition) return true;
    try {
      const options = { signal: this.#signal, accept: METADATA_ONLY };
      const { body } = await this.#client.get<KubeObject>(objectPath(definition, id), options);
      return uid === undefined || body.metadata.uid === uid;
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return false;
      throw error;
    }
  }
}
