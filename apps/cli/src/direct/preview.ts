import { previewAnswer } from '@reroll/shared/api/explained';
import type { Preview, PreviewRequest } from '@reroll/shared/api/explain';
import { previewSource } from '@reroll/core/explain/preview-source';
import { previewWorkload, sourcesOf } from '@reroll/core/explain/preview-workload';
import { withProposed } from '@reroll/core/explain/proposed';
import type { ExplainedSource, ExplainedWorkload } from '@reroll/core/explain/facts';
import { isSourceKind, keyOf, SOURCE_KINDS, type SourceKey } from '@reroll/core/model';
import type { SourceRow } from '@reroll/core/state/rows';
import type { ExplainGatherer } from '@reroll/kube/gather-explain';
import { METADATA_ONLY } from '@reroll/kube/client/connection';
import { objectPath, type KubeObject, type KubeResource } from '@reroll/kube/objects';
import { sourceKind } from '@reroll/kube/sources/registry';
import { SECRET_PROVIDER_CLASSES } from '@reroll/kube/sources/secret-provider-class';
import { workloadKind } from '@reroll/kube/workloads/registry';
import type { SourceRef, WorkloadRef } from '../args/object-ref.ts';
import { CliError } from '../errors.ts';
import type { Session } from '../session.ts';
import { placedName } from '../views/names.ts';
import { ofExisting } from './annotate.ts';
import { existing, gatherer } from './explain.ts';
import { namespaceHolds } from './namespace-holds.ts';
import { settingsFor, unwatchedOf, watchedKinds } from './scope.ts';
import type { FoundSettings } from './settings.ts';

type SourceRequest = Extract<PreviewRequest, { readonly of: 'source' }>;
type WorkloadRequest = Extract<PreviewRequest, { readonly of: 'workload' }>;

export interface PresentAnnotations {
  readonly annotations: Readonly<Record<string, string>>;
  readonly podAnnotations: Readonly<Record<string, string>>;
}

/** Previews as the admin does, from what the caller may read. Reports on standard error what they may not read. */
export async function previewOfCluster(
  session: Session,
  request: PreviewRequest,
  flags: readonly string[],
): Promise<{ readonly preview: Preview; readonly settings: string }> {
  const found = await settingsFor(
    session,
    flags,
    request.of === 'source' ? request.source : request.workload,
  );
  const gather = gatherer(session, found);
  const preview =
    request.of === 'source'
      ? await sourcePreview({ session, gather, found }, request)
      : await workloadPreview({ session, gather, found }, request);
  return { preview, settings: found.from };
}

interface Reading {
  readonly session: Session;
  readonly gather: ExplainGatherer;
  readonly found: FoundSettings;
}

async function sourcePreview({ session, gather, found }: Reading, request: SourceRequest): Promise<Preview> {
  const { source: ref, annotations } = request;
  const { workloads, unread } = await gather.workloads(ref.namespace, watchedKinds(found));
  tellUnread(session, unread);
  const source = await gather.source(keyOf(ref));
  return previewAnswer(
    previewSource({
      source,
      unwatched: unwatchedOf(found, [source]),
      workloads,
      annotations,
      settings: found.settings,
      from: 'cluster',
      now: session.io.now(),
      namespaces: await namespaceHolds(session, found, ref.namespace),
    }),
  );
}

async function workloadPreview(
  { session, gather, found }: Reading,
  request: WorkloadRequest,
): Promise<Preview> {
  const { keys } = found.settings.decision;
  const workload = await existing(gather, request.workload);
  const { namespace } = request.workload;
  const { workloads, unread } = await gather.workloads(namespace, watchedKinds(found));
  const followers = workloads.filter(({ row }) => row.templateOwner?.key === workload.key);
  const proposed = { annotations: request.annotations, podAnnotations: request.podAnnotations };
  const then = withProposed(workload, proposed, keys);
  const listed = await gather.sources(namespace, SOURCE_KINDS);
  tellUnread(session, [...unread, ...listed.unread]);
  const known = new Map(listed.sources.map((source) => [source.key, source]));
  for (const key of missingOf([workload, then, ...followers], { keys, known })) {
    // Few, and only of kinds that may not be listed.
    known.set(key, await gather.source(key));
  }
  const all = [...known.values()];
  const input = {
    workload,
    proposed,
    followers,
    sources: new Map(all.flatMap(rowOf)),
    unwatched: unwatchedOf(found, all),
    settings: found.settings,
    from: 'cluster',
    now: session.io.now(),
    namespaces: await namespaceHolds(session, found, namespace),
  } as const;
  return previewAnswer(previewWorkload(input));
}

/** Sources that annotations name and that no list returned. */
function missingOf(
  workloads: readonly ExplainedWorkload[],
  {
    keys,
    known,
  }: {
    readonly keys: Parameters<typeof sourcesOf>[1];
    readonly known: ReadonlyMap<SourceKey, unknown>;
  },
): readonly SourceKey[] {
  const all = workloads.flatMap((workload) => sourcesOf(workload, keys));
  return [...new Set(all)].filter((key) => !known.has(key));
}

function rowOf({ key, row }: ExplainedSource): (readonly [SourceKey, SourceRow])[] {
  return row === undefined ? [] : [[key, row]];
}

function tellUnread({ io }: Session, kinds: readonly string[]): void {
  if (kinds.length > 0)
    io.err(`You may not list ${kinds.join(', ')}: of these, only those that are named are shown.\n`);
}

/** @throws a `CliError` if there is no such object */
export async function annotationsOfCluster(
  { cluster }: Session,
  object: SourceRef | WorkloadRef,
): Promise<PresentAnnotations> {
  const resource = resourceOf(object);
  const path = objectPath(resource, object);
  const accept = isSourceKind(object.kind) ? { accept: METADATA_ONLY } : {};
  const { body } = await ofExisting(placedName(object), cluster.client.get<KubeObject>(path, accept));
  const template = workloadKind(object.kind)?.template(body);
  return {
    annotations: body.metadata.annotations ?? {},
    podAnnotations: template?.metadata?.annotations ?? {},
  };
}

function resourceOf({ kind }: SourceRef | WorkloadRef): KubeResource {
  if (isSourceKind(kind)) return sourceKind(kind) ?? SECRET_PROVIDER_CLASSES;
  const definition = workloadKind(kind);
  if (definition === undefined) throw new CliError(`expected a kind that Reroll knows, given ${kind}`);
  return definition;
}
