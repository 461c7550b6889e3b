import { pendingId } from '@reroll/core/holds/approval';
import { annotationOf } from '@reroll/core/annotations/annotation-keys';
import { ROLLOUTS_ANNOTATION, type NamespaceHolds, type ReloadHold } from '@reroll/core/holds/hold';
import { isResumed, waveHold, wavesFor, type WavesInput } from '@reroll/core/holds/waves';
import { lastReloadOf, readMostRollouts } from '@reroll/core/holds/rollout-slots';
import { withReload, type PastReloads, type ReloadLimit } from '@reroll/core/holds/reload-limit';
import { holdOf, limitOf, type HoldDefaults } from '@reroll/core/holds/reload-hold';
import { recordedReloads } from '@reroll/core/record/record';
import type { Plan } from '@reroll/core/reload/plan';
import { hasRollouts } from '@reroll/core/rollouts/rollout';
import { NamespaceTurns } from '@reroll/core/state/namespace-turns';
import { sourceKeyIn } from '@reroll/core/state/rows';
import { namespaceOf, type Annotations, type WorkloadKey } from '@reroll/core/model';
import type { NamespaceReader } from '@reroll/kube/namespaces/namespace-reader';
import type { WaveReader, WaveReaderSettings } from '@reroll/redis/catalog/wave-reader';
import type { ReloadJob } from '@reroll/redis/queue/jobs';
import type { Queues } from '@reroll/redis/queue/queues';
import type { RolloutSlots } from '@reroll/redis/queue/rollout-slots';
import type { Gathered } from './reload-outcome.ts';
import type { WorkloadNow } from './workload-reader.ts';

/**
 * Milliseconds after which a held workload is looked at again, in case that nobody saw the end of its hold. Half of the time for which
 * the change has been pending, within these bounds, and up to a fifth more so that many do not come at once.
 */
const FIRST_RECHECK = 10_000;
const LAST_RECHECK = 300_000;
/** Milliseconds that a held workload is left alone, so that no mistake about times makes it return at once, again and again. */
const LEAST_WAIT = 1_000;
/**
 * Held jobs that a worker remembers, to bring them forward when a Namespace changes. Beyond it, the namespace with the most loses its
 * oldest, which waits for its time.
 */
const MOST_REMEMBERED = 10_000;
/** Milliseconds between two times that the held workloads of a Namespace are brought forward. */
const WAKE_INTERVAL = 10_000;

/** Milliseconds that the catalog gets to know what a worker has read. */
const CATCH_UP = 5_000;
/** What is recorded of reloads for the slots, where no limit counts them. */
const LAST_ONLY: ReloadLimit = { count: 1, period: 1 };
const NOT_KNOWN_YET = 'It waits until the watcher has told how far the change has come';

export interface ReloadHoldsSettings {
  readonly defaults: HoldDefaults;
  /** The namespace of the installation. */
  readonly ownNamespace: string;
  /** Nothing is rolled out, so no wave would ever end. Default false. */
  readonly isDryRun?: boolean;
  readonly waveSettings: WaveReaderSettings;
}

/** What a held reload would do, and what it is to be recorded with. */
export interface Held extends Pick<Gathered, 'request' | 'passes'> {
  readonly workload: Pick<WorkloadNow, 'key' | 'definition' | 'observed' | 'facts'>;
  readonly plan: Pick<Plan, 'roll' | 'hashes'>;
}

export interface ReloadHoldsPorts {
  readonly namespaces: Pick<NamespaceReader, 'annotations'>;
  readonly queues: Pick<Queues, 'enqueueHeld'>;
  readonly waves: Pick<WaveReader, 'progress'>;
  readonly slots: Pick<RolloutSlots, 'isGranted' | 'ask' | 'keep' | 'leave'>;
  /** See `KubeClient.apiTime`. */
  readonly apiTime: () => number;
}

/** Decides whether a pending workload may be reloaded now (docs/adr/0042). */
export class ReloadHolds {
  readonly #ports: ReloadHoldsPorts;
  readonly #settings: ReloadHoldsSettings;
  /** The jobs that this worker has held, in each namespace the oldest first. */
  readonly #held = new NamespaceTurns<WorkloadKey, ReloadJob>();
  /** When those of a namespace were, or are to be, brought forward (Unix milliseconds). */
  readonly #wokenAt = new Map<string, number>();

  constructor(ports: ReloadHoldsPorts, settings: ReloadHoldsSettings) {
    this.#ports = ports;
    this.#settings = settings;
  }

  /** Rejects with a `KubeError`. */
  async read(namespace: string): Promise<NamespaceHolds> {
    const [of, installation] = await Promise.all([
      this.#ports.namespaces.annotations(namespace),
      this.#ports.namespaces.annotations(this.#settings.ownNamespace),
    ]);
    return { namespace: of, installation };
  }

  /** Returns why the reload is held; undefined if it is not. Rejects with ioredis' error. */
  async holdOf(held: Held, holds: NamespaceHolds): Promise<ReloadHold | undefined> {
    const { passes = [] } = held;
    const hold =
      this.#ownHold(held, holds) ??
      (passes.includes('AwaitsWave') ? undefined : await this.#waveHold(held, holds));
    return hold || passes.includes('AwaitsRollouts') ? hold : await this.#slotHold(held, holds);
  }

  #ownHold({ workload, plan, request, passes }: Held, holds: NamespaceHolds): ReloadHold | undefined {
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
      passes,
      now: this.#ports.apiTime(),
    });
  }

  /** Of the sources whose changes come in waves, the first one that holds it. */
  async #waveHold(held: Held, { namespace }: NamespaceHolds): Promise<ReloadHold | undefined> {
    const { defaults, isDryRun } = this.#settings;
    if (isDryRun === true) return undefined;
    const { observed, facts } = held.workload;
    for (const name of held.plan.roll) {
      const row = facts.sources.get(sourceKeyIn(observed.namespace, name));
      const settings = wavesFor(row?.annotations ?? {}, namespace, defaults);
      const hold = settings && (await this.#holdOfSource(held, { source: name, ...settings }));
      if (hold) return hold;
    }
    return undefined;
  }

  async #holdOfSource(
    { workload, plan }: Held,
    settings: Pick<WavesInput, 'source' | 'waves' | 'bake'>,
  ): Promise<ReloadHold | undefined> {
    const key = sourceKeyIn(workload.observed.namespace, settings.source);
    const { source, members } = await this.#ports.waves.progress(key, this.#settings.waveSettings);
    const now = this.#ports.apiTime();
    // The progress is that of the data which the catalog has.
    if (!members || !source || isOther(source.hash, plan.hashes?.[settings.source]))
      return { reason: 'AwaitsWave', lookAt: now + CATCH_UP, detail: NOT_KNOWN_YET };
    return waveHold({ ...settings, isResumed: isResumed(source), members, workload: workload.key, now });
  }

  /** Comes last, so that no reload that is held anyway takes a slot. */
  async #slotHold({ workload }: Held, { namespace }: NamespaceHolds): Promise<ReloadHold | undefined> {
    if (this.#settings.isDryRun === true || !this.#needsSlot(workload, namespace)) return undefined;
    if (await this.#ports.slots.isGranted(workload.key)) return undefined;
    const most = mostRollouts(namespace);
    const where = most === undefined ? 'installation' : 'namespace or the installation';
    const detail = `It waits for other rollouts in the ${where} to finish`;
    return { reason: 'AwaitsRollouts', most, detail };
  }

  #needsSlot({ key }: Pick<WorkloadNow, 'key'>, namespace: Annotations): boolean {
    return hasRollouts(key) && (this.#isLimited || mostRollouts(namespace) !== undefined);
  }

  /** Whether the installation limits rollouts at once. */
  get #isLimited(): boolean {
    return (this.#settings.defaults.rollouts ?? 0) > 0;
  }

  /** Gives up the workload's slot, because it is not reloaded now. `record`: the last one read. Rejects with ioredis' error. */
  async leave(workload: WorkloadKey, record: string | undefined): Promise<void> {
    if (this.#isLimited) await this.#ports.slots.leave(workload, lastReloadOf(record));
  }

  /** The workload keeps its slot while it waits for so long (milliseconds) for something else. Rejects with ioredis' error. */
  async keepSlot(workload: WorkloadKey, wait: number): Promise<void> {
    await this.#ports.slots.keep(workload, this.#ports.apiTime() + wait);
  }

  /** Returns the reloads to record with one that is made now. */
  reloadsAfter({ workload }: Held, { namespace }: NamespaceHolds): PastReloads | undefined {
    const { annotations, record } = workload.observed;
    const limit = limitOf({ workload: annotations, namespace, defaults: this.#settings.defaults });
    const counted = limit ?? (this.#needsSlot(workload, namespace) ? LAST_ONLY : undefined);
    const now = this.#ports.apiTime();
    return counted && withReload(recordedReloads(record, now), counted, now);
  }

  /** Has the workload looked at again when the hold ends, or may have ended. Rejects with ioredis' error. */
  async lookAgain(job: ReloadJob, hold: ReloadHold, record?: string): Promise<void> {
    this.#remember(job);
    const at = Math.min(Date.now() + this.#waitFor(job, hold), this.#changedLately(job));
    await this.#ports.queues.enqueueHeld([job], at);
    // Afterwards, because the leader brings that job forward.
    if (hold.reason === 'AwaitsRollouts') await this.#ports.slots.ask({ job, most: hold.most });
    else await this.leave(job.workload, record);
  }

  /** Milliseconds. A hold has times of the API server, which this process's clock may be ahead of, or behind. */
  #waitFor({ since }: ReloadJob, { until = Infinity, lookAt }: ReloadHold): number {
    const apiNow = this.#ports.apiTime();
    const recheck = Math.min(Math.max((Date.now() - since) / 2, FIRST_RECHECK), LAST_RECHECK);
    const later = lookAt === undefined ? recheck : lookAt - apiNow;
    return Math.max(LEAST_WAIT, Math.min(until - apiNow, later * (1 + Math.random() / 5)));
  }

  #remember(job: ReloadJob): void {
    this.#held.drop(job.workload);
    this.#held.put(job.workload, job);
    if (this.#held.size > MOST_REMEMBERED) this.#held.dropFromLargest();
  }

  /**
   * The annotations of a Namespace have changed: has the workloads that this worker has held there looked at again now, or at the end
   * of the interval. Rejects with ioredis' error; they then wait for their time.
   */
  async namespaceChanged(namespace: string): Promise<void> {
    const isAll = namespace === this.#settings.ownNamespace;
    const at = this.#wakeTime(namespace);
    const jobs = [...(isAll ? this.#held.values() : this.#held.of(namespace))];
    for (const { workload } of jobs) this.#held.drop(workload);
    await this.#ports.queues.enqueueHeld(jobs, at);
  }

  /** When to look again at a workload of a Namespace that may have changed after its annotations were read. */
  #changedLately({ workload }: ReloadJob): number {
    const woken = [namespaceOf(workload), this.#settings.ownNamespace].flatMap(
      (name) => this.#wokenAt.get(name) ?? [],
    );
    const last = Math.max(-Infinity, ...woken);
    return last + WAKE_INTERVAL < Date.now() ? Infinity : last + WAKE_INTERVAL;
  }

  #wakeTime(namespace: string): number {
    const now = Date.now();
    for (const [name, at] of this.#wokenAt) if (at + WAKE_INTERVAL <= now) this.#wokenAt.delete(name);
    const last = this.#wokenAt.get(namespace);
    const at = last === undefined || last > now ? (last ?? now) : last + WAKE_INTERVAL;
    this.#wokenAt.set(namespace, at);
    return at;
  }
}

/** The limit of a Namespace. One that cannot be read leaves that of the installation in force. */
function mostRollouts(namespace: Annotations): number | undefined {
  return readMostRollouts(annotationOf(namespace, ROLLOUTS_ANNOTATION) ?? '');
}

/** Whether the hash is known to be that of other data. */
function isOther(hash: string, wanted: string | undefined): boolean {
  return wanted !== undefined && schemeOf(hash) === schemeOf(wanted) && hash !== wanted;
}

function schemeOf(hash: string): string {
  return hash.slice(0, hash.indexOf('.'));
}
