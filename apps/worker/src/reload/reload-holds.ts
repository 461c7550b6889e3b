import { pendingId } from '@reroll/core/holds/approval';
import type { ReloadHold } from '@reroll/core/holds/hold';
import { withReload, type PastReloads } from '@reroll/core/holds/reload-limit';
import { holdOf, limitOf, type HoldDefaults } from '@reroll/core/holds/reload-hold';
import { recordedReloads } from '@reroll/core/record/record';
import { sourceKeyIn } from '@reroll/core/state/rows';
import type { Annotations } from '@reroll/core/model';
import type { ReloadJob } from '@reroll/redis/queue/jobs';
import type { Queues } from '@reroll/redis/queue/queues';
import type { NamespaceReader } from './namespace-reader.ts';
import type { Gathered } from './reload-outcome.ts';

/**
 * Milliseconds after which a held workload is looked at again: the hold may have been ended on its Namespace, which nobody watches.
 * Half of the time for which the change has been pending, within these bounds, and up to a fifth more so that many do not come at once.
 */
const FIRST_RECHECK = 10_000;
const LAST_RECHECK = 300_000;

export interface ReloadHoldsSettings {
  readonly defaults: HoldDefaults;
  /** The namespace of the installation. */
  readonly ownNamespace: string;
}

/** The annotations of Namespaces that decide about a workload's holds. */
export interface NamespaceHolds {
  readonly namespace: Annotations;
  readonly installation: Annotations;
}

/** What a held reload would do, and what it is to be recorded with. */
type Held = Pick<Gathered, 'workload' | 'plan' | 'request'>;

/** Decides whether a pending workload may be reloaded now (docs/adr/0042). */
export class ReloadHolds {
  readonly #namespaces: Pick<NamespaceReader, 'annotations'>;
  readonly #queues: Pick<Queues, 'enqueueHeld'>;
  readonly #settings: ReloadHoldsSettings;

  constructor(
    namespaces: Pick<NamespaceReader, 'annotations'>,
    queues: Pick<Queues, 'enqueueHeld'>,
    settings: ReloadHoldsSettings,
  ) {
    this.#namespaces = namespaces;
    this.#queues = queues;
    this.#settings = settings;
  }

  /** Rejects with a `KubeError`. */
  async read(namespace: string): Promise<NamespaceHolds> {
    const [of, installation] = await Promise.all([
      this.#namespaces.annotations(namespace),
      this.#namespaces.annotations(this.#settings.ownNamespace),
    ]);
    return { namespace: of, installation };
  }

  /** Returns why the reload is held; undefined if it is not. */
  holdOf({ workload, plan, request }: Held, holds: NamespaceHolds): ReloadHold | undefined {
    const { observed, facts } = workload;
    const sources = plan.roll.map(
      (name) => [name, facts.sources.get(sourceKeyIn(observed.namespace, name))] as const,
    );
    return holdOf({
      workload: observed.annotations,
      ...holds,
      defaults: this.#settings.defaults,
      record: observed.record,
      id: pendingId({ uid: observed.uid, sources, request }),
      now: workload.apiTime(),
    });
  }

  /** Returns the reloads to record with one that is made now. */
  reloadsAfter({ workload }: Held, { namespace }: NamespaceHolds): PastReloads | undefined {
    const { annotations, record } = workload.observed;
    const limit = limitOf({ workload: annotations, namespace, defaults: this.#settings.defaults });
    return limit && withReload(recordedReloads(record), limit, workload.apiTime());
  }

  /** Has the workload looked at again when the hold ends, or may have ended. Rejects with ioredis' error. */
  async lookAgain(job: ReloadJob, { until = Infinity }: ReloadHold): Promise<void> {
    const now = Date.now();
    const wait = Math.min(Math.max((now - job.since) / 2, FIRST_RECHECK), LAST_RECHECK);
    await this.#queues.enqueueHeld(job, Math.min(until, now + wait * (1 + Math.random() / 5)));
  }
}
