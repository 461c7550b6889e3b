import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  dependencyJudge,
  dependenciesAmong,
  namedSources,
} from '@reroll/core/state/dependencies/dependencies';
import { withExcessOf } from '@reroll/core/state/dependencies/dependency-limits';
import {
  sourceKeyIn,
  type ObservedWorkload,
  type SourceName,
  type WorkloadRow,
} from '@reroll/core/state/rows';
import { turn } from '@reroll/core/state/slices';
import { readMarkerPlaces, templateSketch, type MarkerPlaces } from '@reroll/core/marker/marker-places';
import { pauseWish } from '@reroll/core/reload/pause';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { isInConflict } from '@reroll/core/state/workloads/conflict';
import { withTemplateOf, withoutRoomOf } from '@reroll/core/state/workloads/template-owner';
import { isSourceKey, partsOf, type PodTemplate, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import { decideReload, type Decision, type DecisionSettings } from '@reroll/core/rules/decision';
import type { Catalog, ReloadFacts } from '@reroll/redis/catalog/catalog';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { objectPath, type KubeObject } from '@reroll/kube/objects';
import type { WorkloadKindDefinition } from '@reroll/kube/workloads/definition';
import { observed } from '@reroll/kube/workloads/observe';
import { workloadKind } from '@reroll/kube/workloads/registry';
import { JobError } from '../job-error.ts';

/** A workload as just read, with the catalog's facts about it. */
export interface WorkloadNow {
  readonly key: WorkloadKey;
  readonly definition: WorkloadKindDefinition;
  readonly object: KubeObject;
  readonly template: PodTemplate;
  /** What a reload patches: the workload or, if that uses another workload's pod template, the other one. */
  readonly written: Pick<WorkloadNow, 'definition' | 'object'>;
  readonly observed: ObservedWorkload;
  readonly facts: ReloadFacts;
  /** The sources whose change reloads it, by the rules. */
  readonly dependencies: readonly SourceName[];
  /** Set if the workload was not read: `object` and `template` have only what the catalog's row knows. */
  readonly unread?: { readonly row: WorkloadRow; readonly places: MarkerPlaces };
}

/** Gathers everything that a decision needs. The decision itself is pure. */
export class WorkloadReader {
  readonly #client: Pick<KubeClient, 'get'>;
  readonly #catalog: Pick<Catalog, 'reloadFacts'>;
  readonly #decision: DecisionSettings;

  constructor(
    client: Pick<KubeClient, 'get'>,
    catalog: Pick<Catalog, 'reloadFacts'>,
    decision: DecisionSettings,
  ) {
    this.#client = client;
    this.#catalog = catalog;
    this.#decision = decision;
  }

  /** Null if it does not exist. Rejects with a `KubeError`, or ioredis' error. */
  async read(key: WorkloadKey): Promise<WorkloadNow | null> {
    const id = partsOf(key);
    const definition = workloadKind(id.kind);
    if (!definition) throw new JobError('InvalidJob', `no workload kind ${id.kind}`, true);
    const object = await this.#get(objectPath(definition, id));
    if (!object) return null;
    const own = observed(definition, object, this.#decision.keys);
    const owner = own.templateFrom && (await this.#owner(own.templateFrom.owner));
    const seen = withTemplateOf(own, owner?.observed, this.#decision);
    const holder = owner ?? { definition, object };
    const template = holder.definition.template(holder.object) ?? {};
    const written = owner && own.templateFrom?.isMarkedThere ? owner : { definition, object };
    const surroundings = await this.#surroundings(seen);
    return { key, definition, object, template, written, ...surroundings };
  }

  /**
   * The workload as the catalog knows it, without a read. Undefined if the catalog does not know enough to patch it, or if more than
   * marker and record are to be written. One round trip if it has no other sources than these, else two or three. Rejects with
   * ioredis' error.
   */
  async known(key: WorkloadKey, sources: readonly SourceKey[]): Promise<WorkloadNow | undefined> {
    const first = await this.#catalog.reloadFacts(key, sources);
    const row = first.workload;
    const places = row && readMarkerPlaces(row.places, row.uses.length);
    const { kind, namespace, name } = partsOf(key);
    const definition = workloadKind(kind);
    if (!row || isInConflict(row.conflict) || !places || definition?.isPatchedUnread !== true)
      return undefined;
    const observed = { ...row, key, kind, namespace };
    if (pauseWish(observed, this.#decision.keys).state !== 'none') return undefined;
    const surroundings = await this.#surroundings(observed, first);
    if (surroundings.facts.workload?.rv !== row.rv) return undefined;
    const object = { metadata: { name, namespace, ...metadataOf(row) } };
    return {
      key,
      definition,
      object,
      template: templateSketch(places, row),
      written: { definition, object },
      ...surroundings,
      unread: { row, places },
    };
  }

  /** The workload that owns the pod template; undefined if it does not exist. */
  async #owner(
    key: WorkloadKey,
  ): Promise<Pick<WorkloadNow, 'definition' | 'object' | 'observed'> | undefined> {
    const id = partsOf(key);
    const definition = workloadKind(id.kind);
    const object = definition && (await this.#get(objectPath(definition, id)));
    return object
      ? { definition, object, observed: observed(definition, object, this.#decision.keys) }
      : undefined;
  }

  /** Reads the catalog's rows again, after the sources, so that the rows can be as new as those. */
  async refresh(workload: WorkloadNow): Promise<WorkloadNow> {
    return { ...workload, ...(await this.#surroundings(workload.observed)) };
  }

  decide(workload: ObservedWorkload, source: SourceName, facts: ReloadFacts): Decision {
    const slash = source.indexOf('/');
    const row = facts.sources.get(sourceKeyIn(workload.namespace, source));
    return decideReload({
      source: {
        kind: source.slice(0, slash) as 'ConfigMap',
        name: source.slice(slash + 1),
        annotations: row?.annotations ?? {},
      },
      workload,
      settings: this.#decision,
    });
  }

  /** `first`: facts that were just read. They are read again if they lack a source. */
  async #surroundings(
    seen: ObservedWorkload,
    first?: ReloadFacts,
  ): Promise<Pick<WorkloadNow, 'facts' | 'dependencies' | 'observed'>> {
    const { literal } = namedSources(seen, this.#decision.keys);
    let candidates = [...new Set([...seen.uses, ...literal])];
    const isEnough =
      first && candidates.every((name) => first.sources.has(sourceKeyIn(seen.namespace, name)));
    let facts = isEnough ? first : await this.#facts(seen, candidates);
    const observed = withoutRoomOf(facts.workload, withExcessOf(facts.workload, seen));
    const known = (facts.workload?.dependencies ?? []).filter((name) =>
      isSourceName(name, observed.namespace),
    );
    const spelt = new Set(candidates);
    const byPattern = known.filter((name) => !spelt.has(name));
    if (byPattern.length > 0) {
      candidates = [...candidates, ...byPattern];
      facts = await this.#facts(observed, candidates);
    }
    const annotationsOf = (name: SourceName): Readonly<Record<string, string>> | undefined =>
      facts.sources.get(sourceKeyIn(observed.namespace, name))?.annotations;
    const judge = dependencyJudge(observed, { settings: this.#decision, annotationsOf });
    return { facts, observed, dependencies: await dependenciesInTurns(candidates, judge) };
  }

  #facts(observed: ObservedWorkload, names: readonly SourceName[]): Promise<ReloadFacts> {
    return this.#catalog.reloadFacts(
      observed.key,
      names.map((name) => sourceKeyIn(observed.namespace, name)),
    );
  }

  async #get(path: string): Promise<KubeObject | null> {
    try {
      return (await this.#client.get<KubeObject>(path)).body;
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return null;
      throw error;
    }
  }
}

function metadataOf({
  uid,
  generation,
  rv,
  record,
}: WorkloadRow): Omit<KubeObject['metadata'], 'name' | 'namespace'> {
  const annotations = record === undefined ? {} : { [RECORD_ANNOTATION]: record };
  return { uid, generation, resourceVersion: rv, annotations };
}

/** Yields to other work where patterns take long. */
async function dependenciesInTurns(
  candidates: readonly SourceName[],
  judge: (source: SourceName) => boolean,
): Promise<SourceName[]> {
  const dependencies: SourceName[] = [];
  const rest = candidates.values();
  for (let isOver = turn(); ; isOver = turn()) {
    dependencies.push(...dependenciesAmong(rest, judge, isOver));
    if (!isOver()) return dependencies;
    await nextTurn();
  }
}

/** Checks the name, because others may be able to write to Redis. */
function isSourceName(name: SourceName, namespace: string): boolean {
  return isSourceKey(sourceKeyIn(namespace, name));
}
