import type { WorkloadKey } from '../../model.ts';
import { MultiMap } from '../multi-map.ts';
import type { ObservedWorkload } from '../rows.ts';

/**
 * The most workloads that follow one pod template. Each event of its owner evaluates all of them in one turn. Usually a Deployment has
 * one Rollout.
 */
export const MOST_FOLLOWERS = 10;

type Follower = Pick<ObservedWorkload, 'key' | 'templateFrom'>;

/**
 * The workloads without a pod template of their own, as they were last seen, by the owner of the template. The first
 * `MOST_FOLLOWERS` of an owner follow it. When one of them stops following, the next one begins.
 */
export class TemplateFollowers<Seen> {
  readonly #seen = new Map<WorkloadKey, { readonly seen: Seen; readonly owner: WorkloadKey }>();
  /** In the order in which they began to refer to the owner. */
  readonly #byOwner = new MultiMap<WorkloadKey>();

  /** Records a sighting. If the workload followed another owner, returns the one that takes its place there. */
  put({ key, templateFrom }: Follower, seen: Seen): WorkloadKey | undefined {
    const owner = templateFrom?.owner;
    const next = this.#seen.get(key)?.owner === owner ? undefined : this.forget(key);
    if (owner === undefined) return next;
    this.#seen.set(key, { seen, owner });
    this.#byOwner.add(owner, key);
    return next;
  }

  /** Returns the workload that takes its place, if there is one. */
  forget(key: WorkloadKey): WorkloadKey | undefined {
    const owner = this.#seen.get(key)?.owner;
    if (owner === undefined) return undefined;
    const isFollowing = this.isFollowing(key);
    this.#seen.delete(key);
    this.#byOwner.delete(owner, key);
    return isFollowing ? this.#firstOf(owner)[MOST_FOLLOWERS - 1] : undefined;
  }

  /** Forgets those that are gone. */
  prune(isThere: (key: WorkloadKey) => boolean): void {
    for (const key of this.#seen.keys()) if (!isThere(key)) this.forget(key);
  }

  /** False if the workload has no owner, or is not among the first. */
  isFollowing(key: WorkloadKey): boolean {
    const owner = this.#seen.get(key)?.owner;
    return owner !== undefined && this.#firstOf(owner).includes(key);
  }

  get(key: WorkloadKey): Seen | undefined {
    return this.#seen.get(key)?.seen;
  }

  /** Returns the last sightings of those that follow an owner. */
  of(owner: WorkloadKey): Seen[] {
    return this.#firstOf(owner).flatMap((key) => this.#seen.get(key)?.seen ?? []);
  }

  #firstOf(owner: WorkloadKey): WorkloadKey[] {
    const first: WorkloadKey[] = [];
    for (const key of this.#byOwner.each(owner)) {
      if (first.push(key) === MOST_FOLLOWERS) break;
    }
    return first;
  }
}
