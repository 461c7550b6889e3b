import type { Scope } from '@reroll/core/state/listed';
import type { ObservedWorkload, WorkloadRow } from '@reroll/core/state/rows';
import type { WorkloadKey } from '@reroll/core/model';
import type { EventHandler, ShownBy } from '@reroll/kube/reflector/delivery';
import type { ShownRollout } from '@reroll/kube/workloads/seen-rollout';
import { inTurns } from './in-turns.ts';
import type { StreamTargets, WatchedNamespace } from './kind-streams.ts';
import type { Listing } from './listing.ts';

/** A workload as a stream shows it: the facts that decide about it, and the progress of its rollout. */
export interface SeenWorkload {
  readonly key: WorkloadKey;
  readonly workload: ObservedWorkload;
  readonly rollout: ShownRollout;
}

type WorkloadHandlerContext = StreamTargets & { readonly listing: Listing<WorkloadKey, WorkloadRow> };

/** Passes what a stream of workloads shows to the cluster state and to the tracker of rollouts. */
export class WorkloadHandler implements EventHandler<SeenWorkload> {
  readonly #scope: Scope;
  readonly #context: WorkloadHandlerContext;
  /** Once this has fired, events are dropped, because the cluster state has forgotten the namespace. */
  readonly #ended: AbortSignal;
  #entering: boolean;

  constructor(kind: string, { name, ended, entering }: WatchedNamespace, context: WorkloadHandlerContext) {
    this.#scope = { kind, namespace: name };
    this.#ended = ended;
    this.#entering = entering;
    this.#context = context;
  }

  replace(): void {
    const { clusterState, listing } = this.#context;
    listing.begin();
    if (!this.#ended.aborted) clusterState.workloadListBegins(this.#scope);
  }

  upsert(objects: readonly SeenWorkload[], by: ShownBy): void | Promise<void> {
    if (by === 'list') return this.#found(objects);
    const { intake, rollouts, changed } = this.#context;
    if (this.#ended.aborted) return;
    for (const seen of objects) rollouts.seen([seen], () => intake.written(seen.workload));
    changed();
  }

  delete({ key }: SeenWorkload): void {
    const { intake, rollouts, listing, changed } = this.#context;
    if (listing.drop(key) || this.#ended.aborted) return;
    intake.deleted(key);
    rollouts.gone(key);
    changed();
  }

  async synced(resourceVersion: string, unread: readonly string[]): Promise<void> {
    const { intake, rollouts, listing, changed } = this.#context;
    const list = await listing.end(resourceVersion, unread);
    const each = (gone: readonly WorkloadKey[]): void => gone.forEach((key) => rollouts.gone(key));
    if (!this.#ended.aborted)
      await inTurns(intake.listEnds({ ...list, entering: this.#entering }), { each, ended: this.#ended });
    this.#entering = false;
    listing.ended();
    changed();
  }

  async #found(seen: readonly SeenWorkload[]): Promise<void> {
    const { intake, rollouts, listing, changed } = this.#context;
    const objects = seen.map(({ workload }) => workload);
    const catalog = await listing.rowsOf(objects);
    if (!catalog || this.#ended.aborted) return;
    const portion = { scope: this.#scope, objects, catalog, entering: this.#entering };
    rollouts.seen(seen, () => intake.found(portion));
    listing.found(objects);
    changed();
  }
}
