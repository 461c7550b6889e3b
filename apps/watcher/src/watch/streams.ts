import { Backoff } from '@reroll/kube/client/backoff';
import { pause, systemClock } from '@reroll/kube/client/clock';
import { WorkloadIntake } from '@reroll/core/state/workloads/workload-intake';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import { kindOf, namespaceOf, type WorkloadKey } from '@reroll/core/model';
import type { SourceKindDefinition } from '@reroll/kube/sources/definition';
import { SOURCE_DEFINITIONS } from '@reroll/kube/sources/registry';
import type { WorkloadKindDefinition } from '@reroll/kube/workloads/definition';
import { WORKLOAD_DEFINITIONS, workloadKind } from '@reroll/kube/workloads/registry';
import { giveBackMuchMemory } from '@reroll/shared/platform/process/memory';
import { decisionSettings } from '@reroll/shared/platform/options/decision-settings';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import { CatalogAtStart } from './catalog-rows.ts';
import { inTurns } from './in-turns.ts';
import {
  KindStreams,
  type StreamsContext,
  type StreamTargets,
  type WatchedNamespace,
} from './kind-streams.ts';
import { optionalStreams, type OptionalStream } from './optional-streams.ts';
import type { RolloutSightings } from '../rollouts/rollout-sightings.ts';
import { chosenByLabels, SelectedNamespaces } from './scope.ts';
import { NamespaceStreams, StreamGroup } from './stream-group.ts';

/** Namespaces whose first lists are under way at once: each sends two list requests, then five. */
const AT_A_TIME = 16;
/** Milliseconds that stopping a namespace's streams may take. */
const STOP = 3_000;

interface Followed {
  readonly namespace: WatchedNamespace;
  readonly streams: NamespaceStreams;
}

/**
 * Watches every kind in every namespace in scope by a reflector each, and updates one cluster state. In scope are all
 * namespaces, by one reflector a kind (`''`); those of `--namespaces`; or those that now match `--namespace-selector`.
 */
export class Streams {
  readonly #context: StreamsContext;
  readonly #clusterState: ClusterState;
  readonly #intake: WorkloadIntake;
  readonly #rollouts: RolloutSightings;
  readonly #changed: () => void;
  readonly #stopping = new AbortController();
  readonly #selected: SelectedNamespaces | undefined;
  /** Namespaces in scope now. */
  readonly #wanted: ReadonlySet<string>;
  readonly #atStart: CatalogAtStart;
  readonly #kinds: KindStreams;
  /** Namespaces in scope at the first reconcile; undefined before. */
  #atFirst: ReadonlySet<string> | undefined;
  /** Namespaces that were in scope before this watcher began, each until it is watched. */
  #before = new Set<string>();
  /** Namespaces that are watched, including those whose streams are being stopped. */
  readonly #followed = new Map<string, Followed>();
  /** By kind. */
  readonly #optional: Map<string, OptionalStream>;
  readonly #complete = Promise.withResolvers<void>();

  /** `changed` is called after each update of the cluster state or of rollouts. */
  constructor(
    context: StreamsContext,
    into: Pick<StreamTargets, 'clusterState' | 'certificates' | 'rollouts'>,
    changed: () => void,
  ) {
    this.#context = context;
    this.#clusterState = into.clusterState;
    this.#intake = new WorkloadIntake(into.clusterState, decisionSettings(context.options));
    this.#rollouts = into.rollouts;
    this.#changed = changed;
    const { namespaces } = context.options;
    const selector = chosenByLabels(context.options);
    if (selector) {
      this.#selected = new SelectedNamespaces({ ...context, selector, onChange: () => this.#reconcile() });
    }
    this.#wanted = this.#selected?.names ?? new Set(namespaces.length === 0 ? [''] : namespaces);
    this.#atStart = new CatalogAtStart(context.catalog);
    this.#kinds = new KindStreams(context, { ...into, intake: this.#intake, changed }, this.#atStart);
    this.#optional = optionalStreams(context, {
      kinds: this.#kinds,
      namespaceOf: (name) => this.#namespaceOf(name),
    });
  }

  /**
   * Starts to watch what is in scope; resolves when all of it is listed, or when the signal fires. Kinds whose API
   * may be missing start with the first workloads, or after those whose pod template they can use, and nothing waits
   * for them. Calls `onSlow` every `patience` ms until then. Afterwards it watches namespaces that enter the scope
   * and forgets those that leave it.
   */
  async start(by: { signal: AbortSignal; patience: number; onSlow: (what: string) => void }): Promise<void> {
    if (by.signal.aborted) return;
    by.signal.addEventListener('abort', () => this.#complete.resolve(), { once: true });
    const slow = setInterval(() => by.onSlow(this.#missing()), by.patience);
    await this.#learn(by.signal);
    if (this.#selected) this.#selected.stream.start();
    else this.#reconcile();
    await this.#complete.promise;
    clearInterval(slow);
    this.#atStart.release();
  }

  isSynced(): boolean {
    const { synced } = this.#selected?.stream.status ?? { synced: true };
    const followed = [...this.#followed.values()].map(({ streams }) => streams);
    return synced && [...followed, ...this.#optional.values()].every(({ isSynced }) => isSynced);
  }

  /** Whether it is still unknown if the workload exists, so that it must not count as gone. */
  isUndecided(key: WorkloadKey): boolean {
    const namespace = this.#wanted.has('') ? '' : namespaceOf(key);
    if (!this.#wanted.has(namespace)) return false;
    const followed = this.#followed.get(namespace);
    if (!followed?.streams.isListed) return true;
    return this.#optional.get(kindOf(key))?.isUndecided(namespace) ?? false;
  }

  /** Whether what others wrote of the namespace counts for nothing: it is out of scope, or entered it while this watcher ran. */
  isOutdated(namespace: string): boolean {
    if (this.#wanted.has('')) return false;
    return !this.#wanted.has(namespace) || this.#followed.get(namespace)?.namespace.entering === true;
  }

  async stop(timeout: number): Promise<void> {
    this.#stopping.abort();
    const followed = [...this.#followed.values()].map(({ streams }) => streams);
    const selected = this.#selected ? [this.#selected.stream] : [];
    const all = [...selected, ...followed, ...this.#optional.values()];
    await Promise.all(all.map((each) => each.stop(timeout)));
  }

  /** Reads which namespaces the catalog knows: for those, the cluster state must learn what happened while no watcher ran. */
  async #learn(signal: AbortSignal): Promise<void> {
    if (!this.#selected) return;
    const backoff = new Backoff();
    while (!signal.aborted) {
      try {
        this.#before = await this.#atStart.namespaces();
        return;
      } catch (error) {
        this.#context.log.failure('cannot read the catalog, retrying', error);
        await pause(systemClock, backoff.next(), signal);
      }
    }
  }

  /** Starts and stops streams to match the scope, as far as there are free turns. Called after every change. */
  #reconcile(): void {
    if (this.#stopping.signal.aborted || this.#selected?.isListed === false) return;
    this.#atFirst ??= this.#lookFirst();
    for (const [namespace, { streams }] of this.#followed) {
      if (!this.#wanted.has(namespace) && !streams.isEnded) void this.#leave(namespace, streams);
    }
    const busy = [...this.#followed.values()].filter(({ streams }) => streams.isBusy).length;
    const waiting = [...this.#wanted].filter((namespace) => !this.#followed.has(namespace));
    for (const namespace of waiting.slice(0, Math.max(0, AT_A_TIME - busy))) this.#enter(namespace);
    if (this.#isComplete()) this.#complete.resolve();
  }

  #lookFirst(): Set<string> {
    // Without a catalog the new namespaces cannot be told from others, and the time on the Lease decides.
    if (this.#before.size === 0) this.#before = new Set(this.#wanted);
    return new Set(this.#wanted);
  }

  /** Whether everything is listed that was in scope at the first reconcile and still is. */
  #isComplete(): boolean {
    const atFirst = [...(this.#atFirst ?? [])];
    return atFirst.every(
      (namespace) => !this.#wanted.has(namespace) || this.#followed.get(namespace)?.streams.isListed === true,
    );
  }

  #missing(): string {
    if (this.#selected?.isListed === false) return 'namespaces';
    const followed = [...this.#followed.values()];
    const hasSources = followed.every(({ streams }) => streams.areSourcesListed);
    return hasSources ? 'workloads' : 'ConfigMaps and Secrets';
  }

  #enter(namespace: string): void {
    const followed = this.#open(namespace);
    this.#followed.set(namespace, followed);
    this.#before.delete(namespace);
    if (this.#selected) this.#context.log.info(`added namespace to be watched: ${namespace}`);
    for (const { plural } of sourceKinds(this.#context.options))
      this.#context.log.info(
        `Starting Controller to watch resource type: ${plural} in namespace: ${namespace}`,
      );
    const onSources = (): void => {
      // Otherwise the garbage of listing the sources would add to the memory that listing the workloads takes.
      if (namespace === '') giveBackMuchMemory();
      this.#enterOptional(namespace, 'independent');
    };
    const onWorkloads = (): void => this.#enterOptional(namespace, 'dependent');
    void followed.streams.follow({ onSources, onWorkloads, onTurn: () => this.#reconcile() });
  }

  /** `dependent`: kinds that can use another workload's pod template. */
  #enterOptional(namespace: string, which: 'dependent' | 'independent'): void {
    for (const [kind, stream] of this.#optional) {
      if ((workloadKind(kind)?.templateFrom !== undefined) !== (which === 'dependent')) continue;
      stream.enter(namespace);
      stream.start();
    }
  }

  /** Drops events of the namespace at once, forgets it, stops its streams, and only then lets it enter again. */
  async #leave(namespace: string, streams: NamespaceStreams): Promise<void> {
    const optional = [...this.#optional.values()];
    const ends = [streams.stop(STOP), ...optional.map((stream) => stream.leave(namespace))];
    await inTurns(this.#clusterState.leave(namespace), { each: this.#changed });
    this.#intake.prune();
    this.#rollouts.prune();
    this.#changed();
    this.#context.log.info(`removed namespace from watch: ${namespace}`);
    await Promise.all(ends);
    this.#followed.delete(namespace);
    this.#reconcile();
  }

  #open(name: string): Followed {
    const ending = new AbortController();
    const entering = this.#selected !== undefined && !this.#before.has(name);
    const namespace = { name, ended: ending.signal, entering };
    const { options } = this.#context;
    const sources = sourceKinds(options).map((kind) => this.#kinds.sources(kind, namespace));
    const workloads = workloadKinds(options).map((kind) => this.#kinds.workloads(kind, namespace));
    const streams = new NamespaceStreams({
      sources: new StreamGroup(sources),
      workloads: new StreamGroup(workloads),
      ending,
    });
    return { namespace, streams };
  }

  #namespaceOf(name: string): WatchedNamespace {
    const followed = this.#followed.get(name);
    if (!followed) throw new RangeError(`namespace ${name} is not watched`);
    return followed.namespace;
  }
}

function sourceKinds({ resourcesToIgnore }: WatcherOptions): SourceKindDefinition[] {
  return SOURCE_DEFINITIONS.filter(({ plural }) => !resourcesToIgnore.some((ignored) => ignored === plural));
}

/** The kinds that every API server serves. */
function workloadKinds({ ignoredWorkloadTypes }: WatcherOptions): WorkloadKindDefinition[] {
  const isIgnored = (plural: string): boolean => ignoredWorkloadTypes.some((ignored) => ignored === plural);
  return WORKLOAD_DEFINITIONS.filter(({ isWanted, plural }) => isWanted === undefined && !isIgnored(plural));
}
