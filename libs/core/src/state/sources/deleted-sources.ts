import type { AnnotationKeys } from '../../annotations/annotation-keys.ts';
import type { SourceKey, WorkloadKey } from '../../model.ts';
import { recordedHashes } from '../../record/record.ts';
import { namedSources } from '../dependencies/dependencies.ts';
import type { Dependents } from '../dependencies/dependents.ts';
import { pendingCauseOfDependency } from '../pending.ts';
import { sourceNameOf, type SourceRow, type WorkloadRow } from '../rows.ts';
import type { Triggers } from '../settings.ts';

/**
 * Intervals for which the row of a deleted source is kept even if no workload names it. The streams of workloads may lag behind those
 * of sources, so a workload that names the source may still arrive. A reflector notices a silent stream within two minutes.
 */
export const INTERVALS_KEPT = 5;

export interface Known {
  readonly sources: ReadonlyMap<SourceKey, SourceRow>;
  readonly workloads: ReadonlyMap<WorkloadKey, WorkloadRow>;
}

interface Rules {
  readonly triggers: Triggers;
  readonly decision: { readonly keys: AnnotationKeys };
}

/** The deleted sources that still have rows, in the order in which their deletion was noticed. */
export class DeletedSources {
  readonly #known: Known;
  readonly #users: Pick<Dependents, 'usersOf'>;
  readonly #rules: Rules;
  readonly #since = new Map<SourceKey, number>();
  #intervals = 0;

  /** `users` maps a source to the workloads that use, mention or name it, have it recorded, or match it by a pattern. */
  constructor(known: Known, users: Pick<Dependents, 'usersOf'>, rules: Rules) {
    this.#known = known;
    this.#users = users;
    this.#rules = rules;
  }

  observe(key: SourceKey, exists: boolean): void {
    if (exists) this.#since.delete(key);
    else if (!this.#since.has(key)) this.#since.set(key, this.#intervals);
  }

  forget(key: SourceKey): void {
    this.#since.delete(key);
  }

  intervalPassed(): void {
    this.#intervals += 1;
  }

  /** Yields the sources that were deleted long enough ago. */
  *longGone(): Generator<SourceKey, void, void> {
    for (const [key, since] of this.#since) {
      if (this.#intervals - since <= INTERVALS_KEPT) return;
      yield key;
    }
  }

  /** Whether no record and no dependency names the source. A pattern that matches a missing source is no dependency. */
  isUnneeded(key: SourceKey): boolean {
    return this.#users.usersOf(key).every((workload) => this.#isUnneededBy(key, workload));
  }

  #isUnneededBy(key: SourceKey, workload: WorkloadKey): boolean {
    const row = this.#known.workloads.get(workload);
    if (!row) return true;
    const name = sourceNameOf(key);
    if (Object.hasOwn(recordedHashes(row.record), name)) return false;
    const { literal } = namedSources(row, this.#rules.decision.keys);
    const names = [row.uses, row.mentions, literal];
    if (names.some((some) => some.includes(name))) return false;
    const dependency = { name, source: this.#known.sources.get(key), recorded: undefined };
    return pendingCauseOfDependency(row, dependency, this.#rules.triggers) === null;
  }
}
