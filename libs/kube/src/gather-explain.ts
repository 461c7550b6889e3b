import type { AnnotationKeys } from '@reroll/core/annotations/annotation-keys';
import {
  sourceFromCluster,
  workloadFromCluster,
  type ExplainedSource,
  type ExplainedWorkload,
} from '@reroll/core/explain/facts';
import type { ObservedWorkload } from '@reroll/core/state/rows';
import { withTemplateOf } from '@reroll/core/state/workloads/template-owner';
import {
  keyOf,
  partsOf,
  type SourceKey,
  type SourceKind,
  type WorkloadKey,
  type PodSpec,
} from '@reroll/core/model';
import type { DecisionSettings } from '@reroll/core/rules/decision';
import { METADATA_ONLY, METADATA_ONLY_LIST, type KubeClient } from './client/connection.ts';
import { KubeError } from './client/errors.ts';
import { listPages } from './reflector/list-pages.ts';
import { collectionPath, objectPath, type KubeObject, type KubeResource } from './objects.ts';
import { sourceKind } from './sources/registry.ts';
import { SECRET_PROVIDER_CLASSES } from './sources/secret-provider-class.ts';
import type { WorkloadKindDefinition } from './workloads/definition.ts';
import { observed } from './workloads/observe.ts';
import { WORKLOAD_DEFINITIONS, workloadKind } from './workloads/registry.ts';

/**
 * Reads the input of `explain` and the previews with the caller's own permissions, for callers without an admin:
 *
 *     const gather = new ExplainGatherer(client, decision);
 *     const workload = await gather.workload('Deployment/shop/web'); // null: there is none
 *     const source = await gather.source('Secret/shop/db');
 *     explain({ workload, source, settings, from: 'cluster' });
 *
 *     const { workloads, unread } = await gather.workloads('shop');
 *     previewSource({ source, workloads, settings, from: 'cluster' });
 *
 * `sourcesOf(workload, keys)` returns the sources that concern a workload. Only metadata of sources is read, never data, so what is
 * pending and whether record and data agree is reported as not known. Every method rejects with a `KubeError`; for a forbidden
 * read, the methods say what they do.
 */
export class ExplainGatherer {
  readonly #client: Pick<KubeClient, 'get'>;
  readonly #decision: DecisionSettings;
  readonly #signal: AbortSignal;

  /** `signal` aborts the reads. Default: never. */
  constructor(
    client: Pick<KubeClient, 'get'>,
    decision: DecisionSettings,
    signal: AbortSignal = new AbortController().signal,
  ) {
    this.#client = client;
    this.#decision = decision;
    this.#signal = signal;
  }

  /** Returns null if the workload does not exist or Reroll does not know the kind. */
  async workload(key: WorkloadKey): Promise<ExplainedWorkload | null> {
    const read = await this.#read(key);
    const owner = read?.observed.templateFrom && (await this.#read(read.observed.templateFrom.owner));
    return read && joined(read, owner ?? undefined, this.#decision);
  }

  /** A source that may not be read is assumed to exist, and the explanation says so. */
  async source(key: SourceKey): Promise<ExplainedSource> {
    const { keys } = this.#decision;
    const id = partsOf(key);
    try {
      const path = objectPath(resourceOf(id.kind), id);
      const { body } = await this.#client.get<KubeObject>(path, {
        accept: METADATA_ONLY,
        signal: this.#signal,
      });
      return sourceFromCluster(key, body.metadata, keys);
    } catch (error) {
      if (isStatus(error, 404)) return sourceFromCluster(key, null, keys);
      if (isStatus(error, 403)) return sourceFromCluster(key, 'forbidden', keys);
      throw error;
    }
  }

  /**
   * Returns all workloads of a namespace. `unread`: kinds that the caller may not list, which a preview then lacks. A kind that the
   * server does not have has no workloads. `kinds`: default all that Reroll knows, even if this install does not watch them.
   */
  async workloads(
    namespace: string,
    kinds: readonly WorkloadKindDefinition[] = WORKLOAD_DEFINITIONS,
  ): Promise<{ workloads: ExplainedWorkload[]; unread: string[] }> {
    const found = new Map<WorkloadKey, Read>();
    const unread: string[] = [];
    for (const definition of kinds) {
      const isRead = await this.#list({ resource: definition, namespace }, (object) => {
        const read = readOf(definition, object, this.#decision.keys);
        found.set(read.observed.key, read);
      });
      if (!isRead) unread.push(definition.kind);
    }
    const workloads = [...found.values()].map((read) => {
      const { templateFrom } = read.observed;
      return joined(read, templateFrom && found.get(templateFrom.owner), this.#decision);
    });
    return { workloads, unread };
  }

  /** Returns metadata of all sources of these kinds, for patterns. `unread`: kinds that the caller may not list. */
  async sources(
    namespace: string,
    kinds: readonly SourceKind[],
  ): Promise<{ sources: ExplainedSource[]; unread: SourceKind[] }> {
    const sources: ExplainedSource[] = [];
    const unread: SourceKind[] = [];
    for (const kind of kinds) {
      const resource = resourceOf(kind);
      const isRead = await this.#list({ resource, namespace, accept: METADATA_ONLY_LIST }, ({ metadata }) => {
        const key = keyOf({ kind, namespace, name: metadata.name });
        sources.push(sourceFromCluster(key, metadata, this.#decision.keys));
      });
      if (!isRead) unread.push(kind);
    }
    return { sources, unread };
  }

  async #read(key: WorkloadKey): Promise<Read | null> {
    const id = partsOf(key);
    const definition = workloadKind(id.kind);
    if (!definition) return null;
    try {
      const { body } = await this.#client.get<KubeObject>(objectPath(definition, id), {
        signal: this.#signal,
      });
      return readOf(definition, body, this.#decision.keys);
    } catch (error) {
      if (isStatus(error, 404)) return null;
      throw error;
    }
  }

  /** Returns false if the list is forbidden. */
  async #list(
    what: { resource: KubeResource; namespace: string; accept?: string },
    onObject: (object: KubeObject) => void,
  ): Promise<boolean> {
    const { resource, namespace, accept } = what;
    const path = collectionPath(resource, namespace);
    const list = { client: this.#client, path, query: {}, pageSize: 500, signal: this.#signal, accept };
    try {
      await listPages(list, (items) => items.forEach((item) => onObject(item as KubeObject)));
    } catch (error) {
      if (isStatus(error, 403)) return false;
      if (!isStatus(error, 404)) throw error;
    }
    return true;
  }
}

interface Read {
  readonly observed: ObservedWorkload;
  readonly podSpec: PodSpec | undefined;
}

function readOf(definition: WorkloadKindDefinition, object: KubeObject, keys: AnnotationKeys): Read {
  return { observed: observed(definition, object, keys), podSpec: definition.template(object)?.spec };
}

function joined(read: Read, owner: Read | undefined, decision: DecisionSettings): ExplainedWorkload {
  const seen = withTemplateOf(read.observed, owner?.observed, decision);
  if (!read.observed.templateFrom) return workloadFromCluster(seen, read.podSpec);
  return { ...workloadFromCluster(seen, owner?.podSpec), ownerExcess: owner?.observed.excess };
}

function resourceOf(kind: SourceKind): KubeResource {
  return sourceKind(kind) ?? SECRET_PROVIDER_CLASSES;
}

function isStatus(error: unknown, status: number): boolean {
  return error instanceof KubeError && error.status === status;
}
