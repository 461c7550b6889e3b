import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import type { WorkloadIntake } from '@reroll/core/state/workload-intake';
import { isWithin, type Scope } from '@reroll/core/state/listed';
import { observeSource } from '@reroll/core/state/observe';
import type { ObservedSource, ObservedWorkload, SourceRow, WorkloadRow } from '@reroll/core/state/rows';
import type { SourceKind, WorkloadKey } from '@reroll/core/model';
import { RV_UNKNOWN } from '@reroll/core/rv';
import type { HashKeys } from '@reroll/core/record/record-hash';
import type { DecisionSettings } from '@reroll/core/rules/decision';
import type { KubeClient } from '@reroll/kube/client/connection';
import { collectionPath, type KubeObject, type KubeResource } from '@reroll/kube/objects';
import { Reflector } from '@reroll/kube/reflector/reflector';
import type { SourceKindDefinition } from '@reroll/kube/sources/definition';
import type { WorkloadKindDefinition } from '@reroll/kube/workloads/definition';
import { observed } from '@reroll/kube/workloads/observe';
import { seenRollout, type ShownRollout } from '@reroll/kube/workloads/seen-rollout';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import type { CatalogAtStart } from '../publish/catalog-at-start.ts';
import type { RolloutSightings } from '../rollouts/rollout-sightings.ts';
import { feedUntil } from './deaf-after.ts';
import { inTurns } from './in-turns.ts';
import { ListFiller, type Feed, type ListEnd } from './list-filler.ts';
import { isWatched, namespaceSelector, selectors } from './scope.ts';
import { comparedWithKnown, writtenRv, type OlderObjects } from './older-objects.ts';
import type { SourcePresence } from './source-presence.ts';
import type { Stream } from './stream-group.ts';
import type { StreamReports } from './stream-reports.ts';

const KEYS_AT_A_TIME = 1_000;

export interface StreamsContext {
  readonly client: KubeClient;
  readonly catalog: Catalog;
  readonly options: WatcherOptions;
  readonly decision: DecisionSettings;
  readonly hashKeys: HashKeys;
  readonly reports: StreamReports;
  readonly log: Logger;
  readonly olderObjects: Pick<OlderObjects, 'check'>;
}

/** Where the streams of one namespace, or (`''`) of all, lead. */
export interface Into extends StreamsContext {
  readonly namespace: string;
  readonly clusterState: ClusterState;
  readonly intake: WorkloadIntake;
  readonly rollouts: RolloutSightings;
  readonly presence: SourcePresence;
  readonly atStart: CatalogAtStart;
  /** Called after anything was told to the cluster state. */
  readonly changed: () => void;
  /** Fires when the namespace leaves the scope, and at the end. */
  readonly ended: AbortSignal;
  /**
   * Whether the namespace came into scope while this watcher ran: what the catalog may still have of it is of a
   * time before it was forgotten.
   */
  readonly entering: boolean;
}

export function sourceStream(into: Into, definition: SourceKindDefinition): Stream {
  const { kind } = definition;
  const { namespace } = into;
  const { keys } = into.decision;
  return new Reflector<ObservedSource>({
    client: into.client,
    path: path(definition, namespace),
    ...selectors(into, definition, namespace),
    convert: (raw) =>
      observeSource({ kind, metadata: raw.metadata, data: definition.data(raw) }, keys, into.hashKeys),
    handler: new ListFiller(comparedSources(into, definition), (name) => `${kind}/${name}`),
    hooks: into.reports.hooks(kind, namespace),
  });
}

/** A workload as a stream shows it: what decides about it, and how far its rollout is. */
interface SeenWorkload {
  readonly key: string;
  readonly workload: ObservedWorkload;
  readonly rollout: ShownRollout;
}

/** With `labelSelector`: only of the objects that it selects. */
export function workloadStream(
  into: Into,
  definition: WorkloadKindDefinition,
  labelSelector?: string,
): Stream {
  const { kind } = definition;
  const { namespace } = into;
  const { keys } = into.decision;
  const { rolloutDetails } = into.options;
  return new Reflector<SeenWorkload>({
    client: into.client,
    path: path(definition, namespace),
    fieldSelector: namespaceSelector(into, namespace),
    labelSelector,
    convert: (raw: KubeObject) => {
      const workload = observed(definition, raw, keys);
      return { key: workload.key, workload, rollout: seenRollout(definition, raw, rolloutDetails) };
    },
    handler: new ListFiller(comparedWorkloads(into, definition), (name) => `${kind}/${name}`),
    hooks: into.reports.hooks(kind, namespace),
  });
}

/** Tells the cluster state that no workload of the kind exists. */
export async function noWorkloads(into: Into, kind: string): Promise<void> {
  const nothing = workloadFiller(into, kind);
  nothing.listStarted();
  await nothing.listEnded(RV_UNKNOWN, []);
}

function workloadFiller(into: Into, kind: string): ListFiller<SeenWorkload, WorkloadRow> {
  const { namespace } = into;
  return new ListFiller(workloadFeed(into, { kind, namespace }), (name) => `${kind}/${name}`);
}

function comparedSources(into: Into, definition: SourceKindDefinition): Feed<ObservedSource, SourceRow> {
  const { kind } = definition;
  const { namespace, clusterState, olderObjects } = into;
  return comparedWithKnown(sourceFeed(into, { kind, namespace }), {
    heldRv: (key) => writtenRv(clusterState.sources.get(key)),
    rvOf: ({ rv }) => rv,
    check: (key, seenBefore) => olderObjects.check(definition, key, seenBefore),
  });
}

function sourceFeed(
  into: Into,
  scope: Scope & { readonly kind: SourceKind },
): Feed<ObservedSource, SourceRow> {
  const { clusterState, catalog, reports, changed, entering, ended } = into;
  return feedUntil(ended, {
    listBegins: () => undefined,
    rows: async (keys) => (entering ? new Map() : await catalog.sources(keys)),
    everyRow: (isWanted) =>
      rowsWithin(into, scope, {
        isWanted,
        each: (isMeant) => catalog.eachSource(isMeant),
        some: (keys) => catalog.sources(keys),
      }),
    found: (portion) => clusterState.sourcesFound({ ...portion, scope }),
    listed: (list) => sourcesListed(into, scope, list),
    written: (seen) => {
      if (clusterState.sources.get(seen.key)?.hash === seen.hash) reports.unchanged();
      clusterState.sourceWritten(seen, scope);
    },
    deleted: (seen) => sourceDeleted(into, scope, seen),
    told: (type) => {
      reports.received(scope.kind, type);
      changed();
    },
  });
}

/** With a label selector, what a list no longer shows may only have lost its labels: it stays as it was known. */
async function sourcesListed(
  { clusterState, options, presence, ended }: Into,
  scope: Scope,
  list: ListEnd<ObservedSource, SourceRow>,
): Promise<void> {
  if (options.resourceLabelSelector === undefined)
    return await inTurns(clusterState.sourceListEnds({ ...list, scope }), { ended });
  const known = new Set([...clusterState.sourcesIn(scope), ...list.catalog.keys()]);
  const missing = [...known].filter((key) => {
    const row = clusterState.sources.get(key) ?? list.catalog.get(key);
    return row?.exists === true && !list.found.has(key) && isWithin(scope, key);
  });
  const there = await presence.thoseThere(missing);
  if (ended.aborted) return;
  await inTurns(clusterState.sourceListEnds({ ...list, unread: [...list.unread, ...there], scope }), {
    ended,
  });
}

/** At the end everything is there, by which nothing is concluded. */
async function deletedIfGone(
  { clusterState, presence }: Into,
  scope: Scope,
  seen: ObservedSource,
): Promise<void> {
  if (!(await presence.isThere(seen.key))) clusterState.sourceDeleted(seen.key, seen.rv, scope);
}

function sourceDeleted(into: Into, scope: Scope, seen: ObservedSource): void | Promise<void> {
  if (into.options.resourceLabelSelector !== undefined) return deletedIfGone(into, scope, seen);
  return into.clusterState.sourceDeleted(seen.key, seen.rv, scope);
}

function comparedWorkloads(into: Into, definition: WorkloadKindDefinition): Feed<SeenWorkload, WorkloadRow> {
  const { kind } = definition;
  const { namespace, clusterState, olderObjects } = into;
  return comparedWithKnown(workloadFeed(into, { kind, namespace }), {
    heldRv: (key) => clusterState.workloads.get(key)?.rv,
    rvOf: ({ workload }) => workload.rv,
    check: (key, seenBefore) => olderObjects.check(definition, key, seenBefore),
  });
}

function workloadFeed(into: Into, scope: Scope): Feed<SeenWorkload, WorkloadRow> {
  const { clusterState, intake, rollouts, catalog, changed, ended } = into;
  let { entering } = into;
  return feedUntil(ended, {
    listBegins: () => clusterState.workloadListBegins(scope),
    rows: async (keys) => (into.entering ? new Map() : await catalog.workloads(keys)),
    everyRow: (isWanted) =>
      rowsWithin(into, scope, {
        isWanted,
        each: (isMeant) => catalog.eachWorkload(isMeant),
        some: (keys) => catalog.workloads(keys),
      }),
    found: ({ objects, catalog: rows }) => {
      const workloads = objects.map(({ workload }) => workload);
      rollouts.seen(objects, () => intake.found({ objects: workloads, catalog: rows, scope, entering }));
    },
    listed: async (list) => {
      const each = (gone: readonly WorkloadKey[]): void => gone.forEach((key) => rollouts.gone(key));
      // Told as found before.
      await inTurns(intake.listEnds({ ...list, objects: [], scope, entering }), { each, ended });
      entering = false;
    },
    written: (seen) => rollouts.seen([seen], () => intake.written(seen.workload)),
    deleted: ({ key }) => {
      intake.deleted(key);
      rollouts.gone(key);
    },
    told: changed,
  });
}

interface CatalogRows<Row> {
  readonly isWanted: (key: string) => boolean;
  readonly each: (isMeant: (key: string) => boolean) => AsyncIterable<readonly (readonly [string, Row])[]>;
  readonly some: (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>;
}

/** What the catalog has in a stream's reach. */
async function* rowsWithin<Row>(
  into: Into,
  scope: Scope,
  { isWanted, each, some }: CatalogRows<Row>,
): AsyncGenerator<readonly (readonly [string, Row])[]> {
  if (into.entering) return;
  if (scope.namespace === '') {
    yield* each((key) => isWatched(into, scope, key) && isWanted(key));
    return;
  }
  const keys = (await into.atStart.keysOf(scope)).filter(isWanted);
  for (let at = 0; at < keys.length; at += KEYS_AT_A_TIME) {
    yield [...(await some(keys.slice(at, at + KEYS_AT_A_TIME)))];
  }
}

function path(resource: KubeResource, namespace: string): string {
  return collectionPath(resource, namespace === '' ? undefined : namespace);
}
