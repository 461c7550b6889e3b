import { isWithin, type Scope } from '@reroll/core/state/listed';
import type { ObservedSource, SourceRow } from '@reroll/core/state/rows';
import type { SourceKey } from '@reroll/core/model';
import type { SeenStatus } from '@reroll/core/provider-class/observe-status';
import { ProviderClasses } from '@reroll/core/provider-class/provider-classes';
import type { StreamsContext, StreamTargets, WatchedNamespace } from './kind-streams.ts';
import type { WholeStore } from '@reroll/kube/reflector/whole-list';

export const PROVIDER_CLASS = 'SecretProviderClass';

type ProviderClassContext = Pick<StreamTargets, 'clusterState' | 'changed'> &
  Pick<StreamsContext, 'catalog' | 'reports'>;

/** Combines each SecretProviderClass with the statuses of the pods that mount it into one source of the cluster state. */
export class ProviderClassStores {
  readonly #namespace: WatchedNamespace;
  readonly #context: ProviderClassContext;
  readonly #scope: Scope;
  readonly #known = new ProviderClasses();
  readonly #listed = Promise.withResolvers<void>();

  constructor(namespace: WatchedNamespace, context: ProviderClassContext) {
    this.#namespace = namespace;
    this.#context = context;
    this.#scope = { kind: PROVIDER_CLASS, namespace: namespace.name };
    namespace.ended.addEventListener('abort', () => this.#listed.resolve(), { once: true });
  }

  /** Events of classes are not counted, because stakater/Reloader watches only the statuses. */
  get classes(): WholeStore<ObservedSource> {
    const { changed } = this.#context;
    return {
      replace: ({ objects, unread }) => {
        this.#written(this.#known.classesListed(objects, unread));
        this.#listed.resolve();
        changed();
      },
      upsert: (seen) => {
        this.#written([this.#known.classWritten(seen)]);
        changed();
      },
      delete: ({ key }) => {
        this.#known.classDeleted(key);
        changed();
      },
    };
  }

  /** Whether a status counts depends on which classes are ignored, so the first list waits for that of the classes. */
  get statuses(): WholeStore<SeenStatus> {
    const { reports, changed } = this.#context;
    let isFirst = !this.#namespace.entering;
    return {
      replace: async (list) => {
        await this.#listed.promise;
        await this.#statusesListed(list, isFirst);
        isFirst = false;
        changed();
      },
      upsert: (seen, by) => {
        this.#written([this.#known.statusWritten(seen)]);
        reports.received(PROVIDER_CLASS, by);
        changed();
      },
      delete: (seen) => {
        this.#known.statusDeleted(seen);
        reports.received(PROVIDER_CLASS, 'DELETED');
        changed();
      },
    };
  }

  async #statusesListed(
    { rv, objects, unread }: Parameters<WholeStore<SeenStatus>['replace']>[0],
    isFirst: boolean,
  ): Promise<void> {
    const { clusterState } = this.#context;
    if (this.#namespace.ended.aborted) return;
    const catalog = isFirst ? await this.#catalogRows() : new Map<SourceKey, SourceRow>();
    if (this.#namespace.ended.aborted) return;
    const rows = new Map([...catalog, ...this.#clusterStateRows()]);
    const { listed, advanced } = this.#known.statusesListed({ statuses: objects, unread, rows });
    clusterState.sourcesListed({ scope: this.#scope, rv, objects: listed, catalog });
    this.#written(advanced);
  }

  #written(seen: readonly (ObservedSource | undefined)[]): void {
    for (const each of seen)
      if (each && !this.#namespace.ended.aborted) this.#context.clusterState.sourceWritten(each, this.#scope);
  }

  /** Needed only for the first list: after that the cluster state is newer. */
  async #catalogRows(): Promise<Map<SourceKey, SourceRow>> {
    const rows = new Map<SourceKey, SourceRow>();
    for await (const portion of this.#context.catalog.eachSource((key) => isWithin(this.#scope, key))) {
      for (const [key, row] of portion) rows.set(key, row);
    }
    return rows;
  }

  *#clusterStateRows(): Generator<[SourceKey, SourceRow], void, void> {
    const { clusterState } = this.#context;
    for (const key of clusterState.sourcesIn(this.#scope)) {
      const row = clusterState.sources.get(key);
      if (row && isWithin(this.#scope, key)) yield [key, row];
    }
  }
}
