import type { Catalog } from '@reroll/shared/catalog/catalog';
import type { Ledger } from '@reroll/shared/core/ledger/ledger';
import { isWithin, type Scope } from '@reroll/shared/core/ledger/listed';
import { observeSource } from '@reroll/shared/core/ledger/observe';
import type {
  ObservedSource,
  ObservedWorkload,
  SourceRow,
  WorkloadRow,
} from '@reroll/shared/core/ledger/rows';
import { RV_UNKNOWN } from '@reroll/shared/core/rv';
import type { HashKeys } from '@reroll/shared/core/record/record-hash';
import type { DecisionSettings } from '@reroll/shared/core/rules/decision';
import type { KubeClient } from '@reroll/shared/kube/connection';
import { isServed } from '@reroll/shared/kube/discovery';
import { collectionPath, type KubeObject, type KubeResource } from '@reroll/shared/kube/objects';
import { Reflector } from '@reroll/shared/kube/reflector';
import type { SourceKindDefinition } from '@reroll/shared/kube/sources/definition';
import { SOURCE_DEFINITIONS } from '@reroll/shared/kube/sources/registry';
import type { WorkloadKindDefinition } from '@reroll/shared/kube/workloads/definition';
import { observed } from '@reroll/shared/kube/workloads/observe';
import { WORKLOAD_KINDS } from '@reroll/shared/kube/workloads/registry';
import { giveBackMemory } from '@reroll/shared/platform/memory';
import type { Logger } from '@reroll/shared/platform/logging';
import type { WatcherOptions } from '@reroll/shared/platform/options/table';
import { ListFiller, type Feed, type ListEnd } from './list-filler.ts';
import { OptionalStream, type Stream } from './optional-stream.ts';
import { isWatched, namespaceSelector, selectors } from './scope.ts';
import { SourcePresence } from './source-presence.ts';
import { providerClassStream } from './provider-class-streams.ts';
import type { StreamReports } from './stream-reports.ts';

export interface StreamsContext {
  readonly client: KubeClient;
  readonly catalog: Catalog;
  readonly options: WatcherOptions;
  readonly decision: DecisionSettings;
  readonly hashKeys: HashKeys;
  readonly reports: StreamReports;
  readonly log: Logger;
}

/** One reflector for each kind and namespace, all of them into one ledger. */
export class Streams {
  readonly #stopping = new AbortController();
  readonly #sources: Stream[];
  readonly #workloads: Stream[];
  /** By kind. */
  readonly #optional: Map<string, OptionalStream>;

  /** `changed` is called after anything was told to the ledger. */
  constructor(context: StreamsContext, ledger: Ledger, changed: () => void) {
    const { namespaces, resourcesToIgnore, ignoredWorkloadTypes } = context.options;
    const scopes = namespaces.length === 0 ? [''] : [...new Set(namespaces)];
    const kinds = SOURCE_DEFINITIONS.filter(
      ({ plural }) => !resourcesToIgnore.some((ignored) => ignored === plural),
    );
    const into = {
      ...context,
      ledger,
      changed,
      presence: new SourcePresence({
        client: context.client,
        signal: this.#stopping.signal,
        onRetry: (error) =>
          context.log.failure('cannot tell whether a source is deleted, asking again', error),
      }),
    };
    this.#sources = scopes.flatMap((namespace) => kinds.map((kind) => sourceStream(into, kind, namespace)));
    const always = WORKLOAD_KINDS.filter(
      ({ isWanted, plural }) =>
        isWanted === undefined && !ignoredWorkloadTypes.some((ignored) => ignored === plural),
    );
    this.#workloads = scopes.flatMap((namespace) =>
      always.map((kind) => workloadStream(into, kind, namespace)),
    );
    const optional = WORKLOAD_KINDS.filter(({ isWanted }) => isWanted?.(context.options));
    this.#optional = new Map(
      optional.map((definition) => [definition.kind, optionalStream(into, definition, scopes)]),
    );
    if (context.options.enableCsiIntegration) {
      this.#optional.set('SecretProviderClass', providerClassStream(into, scopes));
    }
  }

  /**
   * Lists sources, then workloads, and follows both from there; resolves when all are known, or when the
   * signal fires. Sources first, because the edges of a workload are dated by how far the sources were known
   * when it was listed. Kinds whose API may be missing begin with the workloads, and nobody waits for them.
   * `onSlow` is called every `patience` ms while it takes.
   */
  async start(by: { signal: AbortSignal; patience: number; onSlow: (what: string) => void }): Promise<void> {
    await follow(this.#sources, 'ConfigMaps and Secrets', by);
    // What listing the sources left behind would stand beside what listing the workloads does.
    giveBackMemory();
    for (const stream of this.#optional.values()) if (!by.signal.aborted) stream.start();
    await follow(this.#workloads, 'workloads', by);
  }

  isSynced(): boolean {
    const optional = [...this.#optional.values()];
    return (
      [...this.#sources, ...this.#workloads].every(({ status }) => status.synced) &&
      optional.every(({ isSynced }) => isSynced)
    );
  }

  /** Whether it is not known yet which workloads of the kind exist: none may be taken for gone. */
  isUndecided(kind: string): boolean {
    return this.#optional.get(kind)?.isUndecided ?? false;
  }

  async stop(timeout: number): Promise<void> {
    this.#stopping.abort();
    const streams = [...this.#sources, ...this.#workloads, ...this.#optional.values()];
    await Promise.all(streams.map((stream) => stream.stop(timeout)));
  }
}

export interface Into extends StreamsContext {
  readonly presence: SourcePresence;
  readonly ledger: Ledger;
  readonly changed: () => void;
}

async function follow(
  streams: readonly Stream[],
  what: string,
  by: { signal: AbortSignal; patience: number; onSlow: (what: string) => void },
): Promise<void> {
  for (const stream of streams) if (!by.signal.aborted) stream.start();
  for (const stream of streams) {
    while (!(await stream.waitSynced(by.patience)) && !by.signal.aborted) by.onSlow(what);
  }
}

function sourceStream(into: Into, definition: SourceKindDefinition, namespace: string): Stream {
  const { kind } = definition;
  const { keys } = into.decision;
  return new Reflector<ObservedSource>({
    client: into.client,
    path: path(definition, namespace),
    ...selectors(into, definition, namespace),
    convert: (raw) =>
      observeSource({ kind, metadata: raw.metadata, data: definition.data(raw) }, keys, into.hashKeys),
    handler: new ListFiller(sourceFeed(into, { kind, namespace }), (name) => `${kind}/${name}`),
    hooks: into.reports.hooks(kind),
  });
}

function workloadStream(
  into: Into,
  definition: WorkloadKindDefinition,
  namespace: string,
): Reflector<ObservedWorkload> {
  const { kind } = definition;
  const { keys } = into.decision;
  return new Reflector<ObservedWorkload>({
    client: into.client,
    path: path(definition, namespace),
    fieldSelector: namespaceSelector(into, namespace),
    convert: (raw: KubeObject) => observed(definition, raw, keys),
    handler: workloadFiller(into, { kind, namespace }),
    hooks: into.reports.hooks(kind),
  });
}

function workloadFiller(into: Into, scope: Scope): ListFiller<ObservedWorkload, WorkloadRow> {
  return new ListFiller(workloadFeed(into, scope), (name) => `${scope.kind}/${name}`);
}

function optionalStream(
  into: Into,
  definition: WorkloadKindDefinition,
  namespaces: readonly string[],
): OptionalStream {
  const { kind } = definition;
  return new OptionalStream({
    isServed: (signal) => isServed(into.client, definition, { signal }),
    open: (onMissing) => {
      const reporting = { ...into, reports: into.reports.andWhenMissing(onMissing) };
      return namespaces.map((namespace) => workloadStream(reporting, definition, namespace));
    },
    gone: async () => {
      for (const namespace of namespaces) {
        const nothing = workloadFiller(into, { kind, namespace });
        nothing.listStarted();
        await nothing.listEnded(RV_UNKNOWN, []);
      }
    },
    interval: into.options.discoveryInterval,
    log: into.log.child({ kind }),
  });
}

function sourceFeed(into: Into, scope: Scope): Feed<ObservedSource, SourceRow> {
  const { ledger, catalog, reports, changed } = into;
  return {
    listBegins: () => undefined,
    rows: (keys) => catalog.sources(keys),
    everyRow: (isWanted) => catalog.eachSource((key) => isWatched(into, scope, key) && isWanted(key)),
    found: (portion) => ledger.sourcesFound({ ...portion, scope }),
    listed: (list) => sourcesListed(into, scope, list),
    written: (seen) => {
      if (ledger.sources.get(seen.key)?.hash === seen.hash) reports.unchanged();
      ledger.sourceWritten(seen, scope);
    },
    deleted: (seen) => sourceDeleted(into, scope, seen),
    told: (type) => {
      reports.received(scope.kind, type);
      changed();
    },
  };
}

/** With a label selector, what a list no longer shows may only have lost its labels: it stays as it was known. */
function sourcesListed(
  { ledger, options, presence }: Into,
  scope: Scope,
  list: ListEnd<ObservedSource, SourceRow>,
): void | Promise<void> {
  if (options.resourceLabelSelector === undefined) return ledger.sourcesListed({ ...list, scope });
  const known = [...ledger.sources, ...list.catalog].filter(
    ([key, row]) => row.exists && !list.found.has(key) && isWithin(scope, key),
  );
  const missing = new Set(known.map(([key]) => key));
  return presence
    .thoseThere(missing)
    .then((there) => ledger.sourcesListed({ ...list, unread: [...list.unread, ...there], scope }));
}

async function deletedIfGone({ ledger, presence }: Into, scope: Scope, seen: ObservedSource): Promise<void> {
  if (!(await presence.isThere(seen.key))) ledger.sourceDeleted(seen.key, seen.rv, scope);
}

function sourceDeleted(into: Into, scope: Scope, seen: ObservedSource): void | Promise<void> {
  if (into.options.resourceLabelSelector !== undefined) return deletedIfGone(into, scope, seen);
  return into.ledger.sourceDeleted(seen.key, seen.rv, scope);
}

function workloadFeed(into: Into, scope: Scope): Feed<ObservedWorkload, WorkloadRow> {
  const { ledger, catalog, changed } = into;
  return {
    listBegins: () => ledger.workloadListBegins(scope),
    rows: (keys) => catalog.workloads(keys),
    everyRow: (isWanted) => catalog.eachWorkload((key) => isWatched(into, scope, key) && isWanted(key)),
    found: (portion) => ledger.workloadsFound({ ...portion, scope }),
    listed: (list) => ledger.workloadsListed({ ...list, scope }),
    written: (seen) => ledger.workloadWritten(seen),
    deleted: (seen) => ledger.workloadDeleted(seen.key),
    told: changed,
  };
}

function path(resource: KubeResource, namespace: string): string {
  return collectionPath(resource, namespace === '' ? undefined : namespace);
}
