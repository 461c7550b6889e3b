import type { Catalog } from '@reroll/shared/catalog/catalog';
import { isWithin, type Ledger, type Scope } from '@reroll/shared/core/ledger/ledger';
import { observeSource, observeWorkload } from '@reroll/shared/core/ledger/observe';
import type {
  ObservedSource,
  ObservedWorkload,
  SourceRow,
  WorkloadRow,
} from '@reroll/shared/core/ledger/rows';
import type { HashKeys } from '@reroll/shared/core/record/record-hash';
import type { DecisionSettings } from '@reroll/shared/core/rules/decision';
import type { KubeClient } from '@reroll/shared/kube/connection';
import { collectionPath, type KubeObject, type KubeResource } from '@reroll/shared/kube/objects';
import { Reflector } from '@reroll/shared/kube/reflector';
import type { SourceKindDefinition } from '@reroll/shared/kube/sources/definition';
import { SOURCE_DEFINITIONS } from '@reroll/shared/kube/sources/registry';
import type { WorkloadKindDefinition } from '@reroll/shared/kube/workloads/definition';
import { WORKLOAD_KINDS } from '@reroll/shared/kube/workloads/registry';
import type { WatcherOptions } from '@reroll/shared/platform/options/table';
import { ListFiller, type Feed } from './list-filler.ts';
import type { StreamReports } from './stream-reports.ts';

export interface StreamsContext {
  readonly client: KubeClient;
  readonly catalog: Catalog;
  readonly options: WatcherOptions;
  readonly decision: DecisionSettings;
  readonly hashKeys: HashKeys;
  readonly reports: StreamReports;
}

type Stream = Pick<Reflector<unknown>, 'start' | 'stop' | 'waitSynced' | 'status'>;

/** One reflector for each kind and namespace, all of them into one ledger. */
export class Streams {
  readonly #sources: Stream[];
  readonly #workloads: Stream[];

  /** `changed` is called after anything was told to the ledger. */
  constructor(context: StreamsContext, ledger: Ledger, changed: () => void) {
    const { namespaces, resourcesToIgnore } = context.options;
    const scopes = namespaces.length === 0 ? [''] : [...new Set(namespaces)];
    const kinds = SOURCE_DEFINITIONS.filter(
      ({ plural }) => !resourcesToIgnore.some((ignored) => ignored === plural),
    );
    const into = { ...context, ledger, changed };
    this.#sources = scopes.flatMap((namespace) => kinds.map((kind) => sourceStream(into, kind, namespace)));
    this.#workloads = scopes.flatMap((namespace) =>
      WORKLOAD_KINDS.map((kind) => workloadStream(into, kind, namespace)),
    );
  }

  /**
   * Lists sources, then workloads, and follows both from there; resolves when all are known, or when the
   * signal fires. Sources first, because the edges of a workload are dated by how far the sources were known
   * when it was listed. `onSlow` is called every `patience` ms while it takes.
   */
  async start(by: { signal: AbortSignal; patience: number; onSlow: (what: string) => void }): Promise<void> {
    await follow(this.#sources, 'ConfigMaps and Secrets', by);
    await follow(this.#workloads, 'workloads', by);
  }

  isSynced(): boolean {
    return [...this.#sources, ...this.#workloads].every(({ status }) => status.synced);
  }

  async stop(timeout: number): Promise<void> {
    await Promise.all([...this.#sources, ...this.#workloads].map((stream) => stream.stop(timeout)));
  }
}

interface Into extends StreamsContext {
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
    fieldSelector: definition.fieldSelector({ ignoredSecretTypes: into.options.secretTypesToIgnore }),
    convert: (raw) =>
      observeSource({ kind, metadata: raw.metadata, data: definition.data(raw) }, keys, into.hashKeys),
    handler: new ListFiller(sourceFeed(into, { kind, namespace }), (name) => `${kind}/${name}`),
    hooks: into.reports.hooks(kind),
  });
}

function workloadStream(into: Into, definition: WorkloadKindDefinition, namespace: string): Stream {
  const { kind } = definition;
  const { keys } = into.decision;
  const convert = (raw: KubeObject): ObservedWorkload =>
    observeWorkload({ kind, metadata: raw.metadata, template: definition.template(raw) ?? {} }, keys);
  return new Reflector<ObservedWorkload>({
    client: into.client,
    path: path(definition, namespace),
    convert,
    handler: new ListFiller(workloadFeed(into, { kind, namespace }), (name) => `${kind}/${name}`),
    hooks: into.reports.hooks(kind),
  });
}

function sourceFeed(into: Into, scope: Scope): Feed<ObservedSource, SourceRow> {
  const { ledger, catalog, reports, changed } = into;
  return {
    listBegins: () => undefined,
    rows: (keys) => catalog.sources(keys),
    everyRow: (isWanted) => catalog.eachSource((key) => isWithin(scope, key) && isWanted(key)),
    listed: (list) => ledger.sourcesListed({ ...list, scope }),
    written: (seen) => ledger.sourceWritten(seen, scope),
    deleted: (seen) => ledger.sourceDeleted(seen.key, seen.rv, scope),
    told: (type) => {
      reports.received(scope.kind, type);
      changed();
    },
  };
}

function workloadFeed(into: Into, scope: Scope): Feed<ObservedWorkload, WorkloadRow> {
  const { ledger, catalog, reports, changed } = into;
  return {
    listBegins: () => ledger.workloadListBegins(scope),
    rows: (keys) => catalog.workloads(keys),
    everyRow: (isWanted) => catalog.eachWorkload((key) => isWithin(scope, key) && isWanted(key)),
    listed: (list) => ledger.workloadsListed({ ...list, scope }),
    written: (seen) => ledger.workloadWritten(seen),
    deleted: (seen) => ledger.workloadDeleted(seen.key),
    told: (type) => {
      reports.received(scope.kind, type);
      changed();
    },
  };
}

function path(resource: KubeResource, namespace: string): string {
  return collectionPath(resource, namespace === '' ? undefined : namespace);
}
