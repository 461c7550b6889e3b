import type { AnnotationKeys } from '@reroll/core/annotations/annotation-keys';
import type { CertificateDates } from '@reroll/core/certificates/certificate-dates';
import { labelSelectorText } from '@reroll/core/label-selector';
import { observeStatus, STATUS_KIND, type SeenStatus } from '@reroll/core/provider-class/observe-status';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import { servedBy } from '@reroll/core/state/workloads/template-form';
import type { WorkloadIntake } from '@reroll/core/state/workloads/workload-intake';
import { markerHash } from '@reroll/core/marker/marker-hash';
import type { Scope } from '@reroll/core/state/listed';
import { observeSource } from '@reroll/core/state/observe';
import type { ObservedSource, WorkloadRow } from '@reroll/core/state/rows';
import type { Key, WorkloadKey } from '@reroll/core/model';
import { RV_UNKNOWN, type Rv } from '@reroll/core/rv';
import { sourceKeys, type HashKeys } from '@reroll/core/record/record-hash';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { KubeClient } from '@reroll/kube/client/connection';
import { collectionPath, type KubeObject, type KubeResource } from '@reroll/kube/objects';
import { Reflector } from '@reroll/kube/reflector/reflector';
import { ServerVersion } from '@reroll/kube/server-version';
import type { SourceKindDefinition } from '@reroll/kube/sources/definition';
import {
  SECRET_PROVIDER_CLASSES,
  SECRET_PROVIDER_CLASS_POD_STATUSES,
} from '@reroll/kube/sources/secret-provider-class';
import type { WorkloadKindDefinition } from '@reroll/kube/workloads/definition';
import { observed, withMarkerPlaces } from '@reroll/kube/workloads/observe';
import { seenRollout } from '@reroll/kube/workloads/seen-rollout';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { decisionSettings } from '@reroll/shared/platform/options/decision-settings';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import type { RolloutSightings } from '../rollouts/rollout-sightings.ts';
import {
  CatalogRows,
  sourceRows,
  workloadRows,
  type CatalogAtStart,
  type CatalogSide,
} from './catalog-rows.ts';
import { Listing } from './listing.ts';
import type { OlderObjects } from './older-objects.ts';
import { PROVIDER_CLASS, ProviderClassStores } from './provider-class-stores.ts';
import { isWatched, namespaceSelector, selectors } from './scope.ts';
import { SourceHandler, SourcePresence } from './source-handler.ts';
import type { Stream } from './stream-group.ts';
import type { StreamReports } from './stream-reports.ts';
import { WholeList } from '@reroll/kube/reflector/whole-list';
import { WorkloadHandler, type SeenWorkload } from './workload-handler.ts';

export interface StreamsContext {
  readonly client: KubeClient;
  readonly catalog: Catalog;
  readonly options: WatcherOptions;
  readonly hashKeys: HashKeys;
  readonly reports: StreamReports;
  readonly log: Logger;
  readonly olderObjects: Pick<OlderObjects, 'check'>;
}

export interface StreamTargets {
  readonly clusterState: ClusterState;
  readonly certificates: CertificateDates;
  readonly intake: WorkloadIntake;
  readonly rollouts: RolloutSightings;
  /** Called after each update of the cluster state. */
  readonly changed: () => void;
}

/** A namespace in scope; `''` is all of them. */
export interface WatchedNamespace {
  readonly name: string;
  /** Fires when the namespace leaves the scope, and at shutdown. */
  readonly ended: AbortSignal;
  /** Whether the namespace entered the scope while this watcher ran. */
  readonly entering: boolean;
}

/** Makes the streams of each kind in a namespace. They are not started. */
export class KindStreams {
  readonly #context: StreamsContext;
  readonly #keys: AnnotationKeys;
  readonly #targets: StreamTargets;
  readonly #atStart: CatalogAtStart;

  constructor(context: StreamsContext, targets: StreamTargets, atStart: CatalogAtStart) {
    this.#context = context;
    this.#keys = decisionSettings(context.options).keys;
    this.#targets = targets;
    this.#atStart = atStart;
  }

  sources(definition: SourceKindDefinition, namespace: WatchedNamespace): Stream {
    const { options, hashKeys, reports, client } = this.#context;
    const { kind } = definition;
    const { clusterState, certificates } = this.#targets;
    const scope = { kind, namespace: namespace.name };
    const presence =
      options.resourceLabelSelector === undefined ? undefined : this.#presence(namespace.ended);
    const listing = new Listing({
      scope,
      catalog: this.#rows(sourceRows(this.#context.catalog), scope, namespace),
      held: (key) => clusterState.sources.get(key),
      check: this.#checkOf(definition),
    });
    return new Reflector<ObservedSource>({
      client,
      path: path(definition, namespace),
      ...selectors(this.#context, definition, namespace.name),
      convert: (raw, by) => {
        const data = definition.data(raw);
        const seen = observeSource({ kind, metadata: raw.metadata, data }, this.#keys, hashKeys);
        const shown = certificates.observed(seen, definition.certificates?.(raw));
        if (by !== 'MODIFIED') return shown;
        const { hash } = options;
        const marked = (): string => markerHash(kind, data, { hash, keys: sourceKeys(seen.key, hashKeys) });
        return { ...shown, markerHash: marked };
      },
      handler: new SourceHandler(kind, namespace, { ...this.#targets, listing, reports, presence }),
      hooks: reports.hooks(kind, namespace.name),
    });
  }

  /** `labelSelector`: watch only these. `onMissing` is called when the API server does not serve the kind. */
  workloads(
    definition: WorkloadKindDefinition,
    namespace: WatchedNamespace,
    by: { labelSelector?: string; onMissing?: () => void } = {},
  ): Stream {
    const { client, options, hashKeys } = this.#context;
    const server = new ServerVersion(client);
    return new Reflector<SeenWorkload>({
      client,
      path: path(definition, namespace),
      fieldSelector: namespaceSelector(this.#context, namespace.name),
      labelSelector: by.labelSelector,
      connecting: (signal) => server.read(signal),
      convert: (raw: KubeObject) => {
        const seen = observed(definition, raw, this.#keys);
        const served = { ...seen, template: servedBy(server.current, seen.template) };
        const workload = withMarkerPlaces(served, { definition, object: raw }, hashKeys);
        const rollout = seenRollout(definition, raw, options.rolloutDetails);
        return { key: workload.key, workload, rollout };
      },
      handler: this.#workloadHandler(definition.kind, namespace, this.#checkOf(definition)),
      hooks: this.#reports(by.onMissing).hooks(definition.kind, namespace.name),
    });
  }

  /** Removes all workloads of the kind from the cluster state. */
  async noWorkloads(kind: string, namespace: WatchedNamespace): Promise<void> {
    const handler = this.#workloadHandler(kind, namespace, async () => undefined);
    handler.replace();
    await handler.synced(RV_UNKNOWN, []);
  }

  /** The streams of SecretProviderClasses, and of the statuses of the pods that mount them. */
  providerClasses(namespace: WatchedNamespace, onMissing: () => void): Stream[] {
    const { client, catalog, hashKeys, options } = this.#context;
    const reports = this.#reports(onMissing);
    const stores = new ProviderClassStores(namespace, { ...this.#targets, catalog, reports });
    const fieldSelector = namespaceSelector(this.#context, namespace.name);
    const { resourceLabelSelector: labels } = options;
    return [
      new Reflector<ObservedSource>({
        client,
        path: path(SECRET_PROVIDER_CLASSES, namespace),
        fieldSelector,
        convert: ({ metadata }) =>
          observeSource({ kind: PROVIDER_CLASS, metadata, data: {} }, this.#keys, []),
        handler: new WholeList(PROVIDER_CLASS, stores.classes),
        hooks: reports.hooks(PROVIDER_CLASS, namespace.name),
      }),
      new Reflector<SeenStatus>({
        client,
        path: path(SECRET_PROVIDER_CLASS_POD_STATUSES, namespace),
        fieldSelector,
        labelSelector: labels && labelSelectorText(labels),
        convert: (raw) => observeStatus(raw, hashKeys),
        handler: new WholeList(STATUS_KIND, stores.statuses),
        hooks: reports.hooks(STATUS_KIND, namespace.name),
      }),
    ];
  }

  #workloadHandler(
    kind: string,
    namespace: WatchedNamespace,
    check: (key: WorkloadKey, seenBefore: Rv) => Promise<void>,
  ): WorkloadHandler {
    const { clusterState } = this.#targets;
    const scope = { kind, namespace: namespace.name };
    const catalog = this.#rows(workloadRows(this.#context.catalog), scope, namespace);
    const held = (key: WorkloadKey): WorkloadRow | undefined => clusterState.workloads.get(key);
    const listing = new Listing({ scope, catalog, held, check });
    return new WorkloadHandler(kind, namespace, { ...this.#targets, listing });
  }

  #rows<ObjectKey extends Key<string>, Row>(
    side: CatalogSide<ObjectKey, Row>,
    scope: Scope,
    { entering }: WatchedNamespace,
  ): CatalogRows<ObjectKey, Row> {
    const reach = (key: ObjectKey): boolean => isWatched(this.#context, scope, key);
    return new CatalogRows(side, { scope, isWatched: reach, entering, atStart: this.#atStart });
  }

  #checkOf(resource: KubeResource): (key: Key<string>, seenBefore: Rv) => Promise<void> {
    return (key, seenBefore) => this.#context.olderObjects.check(resource, key, seenBefore);
  }

  #presence(signal: AbortSignal): SourcePresence {
    const { client, log } = this.#context;
    const onRetry = (error: unknown): void =>
      log.failure('cannot determine whether a source was deleted, retrying', error);
    return new SourcePresence(client, signal, onRetry);
  }

  #reports(onMissing: (() => void) | undefined): StreamReports {
    const { reports } = this.#context;
    return onMissing ? reports.andWhenMissing(onMissing) : reports;
  }
}

function path(resource: KubeResource, { name }: WatchedNamespace): string {
  return collectionPath(resource, name === '' ? undefined : name);
}
