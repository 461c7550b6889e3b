import type { Catalog, Published, Publication } from '@reroll/shared/catalog/catalog';
import type { Ledger } from '@reroll/shared/core/ledger/ledger';
import type { FoundBy, WakeCause } from '@reroll/shared/core/ledger/outbox';
import type { SourceKey, WorkloadKey } from '@reroll/shared/core/model';
import type { Logger } from '@reroll/shared/platform/logging';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import type { Queues } from '@reroll/shared/queue/queues';
import { AdoptionRate } from './adoption-rate.ts';
import type { RolloutPublisher } from './rollout-publisher.ts';

export interface PublisherContext {
  readonly ledger: Ledger;
  readonly catalog: Catalog;
  readonly queues: Pick<Queues, 'enqueueChanges' | 'enqueueReloads' | 'enqueueResumes'>;
  readonly rollouts: RolloutPublisher;
  readonly metrics: WatcherMetrics;
  readonly log: Logger;
  readonly adoptionsPerSecond: number;
  /**
   * Changes are posted to `--webhook-url`: no workload is woken. What was begun before is finished all the same: a pause
   * of ours ends, and a twin is what is left of a Job.
   */
  readonly notifyOnly?: boolean;
  /** Whether the Lease is ours at this moment; asked before each write. */
  readonly isLeader: () => boolean;
  /** A newer leader has written. */
  readonly onRefused: () => void;
}

/** Rows in one call of the catalog's script, which holds up every other user of Redis while it runs. */
const ROWS_PER_WRITE = 250;
const WAKES_PER_WRITE = 500;
const MIN_PAUSE = 100;
const MAX_PAUSE = 5_000;
/** How often waiting corrections are looked at for tokens. */
const CORRECTIONS_PAUSE = 200;

interface Portion {
  readonly sources: readonly (readonly [SourceKey, FoundBy | undefined])[];
  readonly workloads: readonly WorkloadKey[];
  readonly changes: readonly SourceKey[];
  readonly wakes: readonly (readonly [WorkloadKey, WakeCause])[];
  readonly resumes: readonly WorkloadKey[];
}

/**
 * Carries the ledger's outbox to Redis, while this watcher leads. In this order, which the protocol needs:
 *
 * 1. rollouts, so that nobody finds the row of a workload that is being rolled and no rollout;
 * 2. rows, so that a worker that is woken finds what it is judged by;
 * 3. change jobs;
 * 4. wakes; those that only correct a record wait for a token of the adoption rate;
 * 5. the ends of pauses, as jobs that wait until then.
 *
 * What could not be written is put back and tried again, with growing pauses and for ever: it is identity
 * only, so it never grows past the cluster. One write at a time.
 */
export class Publisher {
  readonly #context: PublisherContext;
  readonly #adoptions: AdoptionRate;
  readonly #corrections = new Set<WorkloadKey>();
  #term: string | null = null;
  #sequence = 0;
  #verify = false;
  #pause = MIN_PAUSE;
  #loop: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(context: PublisherContext) {
    this.#context = context;
    this.#adoptions = new AdoptionRate(context.adoptionsPerSecond);
  }

  /** Begins to write, under the term of a Lease just acquired. */
  lead(term: string): void {
    this.#term = term;
    this.#sequence = 0;
    this.kick();
  }

  /** Looks at the outbox. A standby's is emptied: its leader does what is to be done. */
  kick(): void {
    if (this.#term === null) {
      this.#context.ledger.outbox.clear();
      this.#context.rollouts.discard();
      return;
    }
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#loop ??= this.#run();
  }

  /** Asks at the next write whether the catalog still is what was written, and asserts it if not. */
  verify(): void {
    this.#verify = true;
    this.kick();
  }

  /** Ends, after the write that is under way. */
  async stop(): Promise<void> {
    this.#term = null;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#loop;
  }

  async #run(): Promise<void> {
    // Everything that happened in this turn of the event loop goes out together.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      while (this.#hasWork()) await this.#once();
      this.#pause = MIN_PAUSE;
      const wait = this.#corrections.size > 0 ? CORRECTIONS_PAUSE : this.#context.rollouts.dueIn;
      if (wait !== undefined) this.#later(Math.max(wait, MIN_PAUSE));
    } catch (error) {
      this.#context.metrics.publishRetries.inc();
      this.#context.metrics.catalogWrites.inc({ result: 'error' });
      this.#context.log.failure('writing to Redis failed, trying again', error, {
        milliseconds: this.#pause,
      });
      this.#later(this.#pause);
      this.#pause = Math.min(this.#pause * 2, MAX_PAUSE);
    } finally {
      this.#loop = null;
    }
  }

  #hasWork(): boolean {
    return (
      this.#mayWrite() &&
      (this.#verify ||
        this.#context.rollouts.dueIn === 0 ||
        !this.#context.ledger.outbox.isEmpty() ||
        this.#adoptions.hasToken(this.#corrections.size))
    );
  }

  /** Asked before each write: between two of them this process may have been frozen past its Lease. */
  #mayWrite(): boolean {
    return this.#term !== null && this.#context.isLeader();
  }

  #later(milliseconds: number): void {
    if (this.#term === null) return;
    this.#timer = setTimeout(() => this.kick(), milliseconds);
  }

  async #once(): Promise<void> {
    await this.#verifyIfAsked();
    if (!(await this.#writeRollouts())) return;
    const portion = this.#take();
    try {
      const changed = await this.#writeRows(portion);
      await this.#enqueue(portion, changed);
    } catch (error) {
      this.#putBack(portion);
      throw error;
    }
  }

  async #verifyIfAsked(): Promise<void> {
    if (!this.#verify || this.#term === null) return;
    // Before its first write nothing there is this leader's; all is to be written anyway.
    const writer = { term: this.#term, sequence: this.#sequence };
    const intact = writer.sequence === 0 || (await this.#context.catalog.isLastWriter(writer));
    this.#verify = false;
    if (intact) return;
    this.#context.log.warning('the catalog is not as it was written, asserting it');
    this.#assertAll();
  }

  #assertAll(): void {
    this.#context.ledger.assertAll();
    this.#context.rollouts.assertAll();
  }

  /** False if this watcher leads no more. */
  async #writeRollouts(): Promise<boolean> {
    if (this.#term === null || !this.#mayWrite()) return false;
    if (await this.#context.rollouts.flush(this.#term)) return true;
    this.#term = null;
    this.#context.onRefused();
    return false;
  }

  /** The oldest rows, and all jobs if these are all rows: a job never goes out before its row. */
  #take(): Portion {
    const { outbox } = this.#context.ledger;
    const sources = takeFrom(outbox.sources, ROWS_PER_WRITE).map(
      (key) => [key, outbox.takeFoundBy(key)] as const,
    );
    const workloads = takeFrom(outbox.workloads, ROWS_PER_WRITE);
    if (outbox.sources.size + outbox.workloads.size > 0)
      return { sources, workloads, changes: [], wakes: [], resumes: [] };
    const changes = takeFrom(outbox.changes, outbox.changes.size);
    const wakes = [...outbox.wakes];
    outbox.wakes.clear();
    const resumes = takeFrom(outbox.resumes, outbox.resumes.size);
    return { sources, workloads, changes, wakes, resumes };
  }

  #putBack(portion: Portion): void {
    const { outbox } = this.#context.ledger;
    for (const [key, foundBy] of portion.sources) {
      outbox.sources.add(key);
      if (foundBy === 'event') outbox.live.add(key);
    }
    for (const key of portion.workloads) outbox.workloads.add(key);
    for (const key of portion.changes) outbox.changes.add(key);
    for (const [key, cause] of portion.wakes) outbox.wake(key, cause);
    for (const key of portion.resumes) outbox.resumes.add(key);
  }

  async #writeRows({ sources, workloads }: Portion): Promise<readonly SourceKey[]> {
    if (this.#term === null || !this.#mayWrite() || sources.length + workloads.length === 0) return [];
    const { ledger, catalog, metrics } = this.#context;
    const result = await catalog.publish({
      writer: { term: this.#term, sequence: this.#sequence },
      sources: sources.map(([key, foundBy]) => [key, ledger.sources.get(key), foundBy] as const),
      workloads: workloads.map((key) => workloadEntry(ledger, key)),
    });
    metrics.catalogWrites.inc({ result: result.refused ? 'refused' : 'success' });
    return this.#wrote(result);
  }

  #wrote(result: Published): readonly SourceKey[] {
    if (result.refused) {
      this.#term = null;
      this.#context.onRefused();
      return [];
    }
    this.#sequence += 1;
    if (result.gap) {
      this.#context.log.warning('an earlier write is gone from Redis, asserting the catalog');
      this.#assertAll();
    }
    return result.changed;
  }

  async #enqueue(portion: Portion, changed: readonly SourceKey[]): Promise<void> {
    if (!this.#mayWrite()) return;
    const { queues, metrics, ledger } = this.#context;
    const since = Date.now();
    const wanted = changed.filter((key) => ledger.wantsChangeJob(key));
    const changes = [...new Set([...portion.changes, ...wanted])];
    await queues.enqueueChanges(changes, since);
    metrics.workqueueAdds.inc(changes.length);
    const wakes = this.#due(this.#context.notifyOnly === true ? this.#begun(portion.wakes) : portion.wakes);
    for (let at = 0; at < wakes.length; at += WAKES_PER_WRITE) {
      const some = wakes.slice(at, at + WAKES_PER_WRITE);
      await queues.enqueueReloads(some.map((workload) => ({ workload, since })));
      metrics.workqueueAdds.inc(some.length);
    }
    await this.#enqueueResumes(portion.resumes);
  }

  async #enqueueResumes(workloads: readonly WorkloadKey[]): Promise<void> {
    const { queues, ledger } = this.#context;
    const resumes = workloads.flatMap((workload) => {
      const at = ledger.workloads.get(workload)?.resumeAt;
      return at === undefined ? [] : [{ workload, at }];
    });
    for (let at = 0; at < resumes.length; at += WAKES_PER_WRITE) {
      await queues.enqueueResumes(resumes.slice(at, at + WAKES_PER_WRITE));
    }
  }

  #begun(wakes: Portion['wakes']): Portion['wakes'] {
    const { workloads } = this.#context.ledger;
    return wakes.filter(([key]) => workloads.get(key)?.leftAlone === 'JobTwin');
  }

  /** The wakes to send now: all that are owed, and corrections as far as there are tokens. */
  #due(wakes: Portion['wakes']): WorkloadKey[] {
    const now: WorkloadKey[] = [];
    for (const [key, cause] of wakes) {
      if (cause === 'correct') this.#corrections.add(key);
      else {
        this.#corrections.delete(key);
        now.push(key);
      }
    }
    this.#context.metrics.wakes.inc({ reason: 'owed' }, now.length);
    const { ledger } = this.#context;
    // Of what was deleted or left the scope while it waited nobody needs to hear.
    const corrections = takeFrom(this.#corrections, this.#adoptions.take(this.#corrections.size)).filter(
      (key) => ledger.workloads.has(key),
    );
    this.#context.metrics.wakes.inc({ reason: 'correct' }, corrections.length);
    return [...now, ...corrections];
  }
}

function takeFrom<T>(set: Set<T>, most: number): T[] {
  const taken: T[] = [];
  for (const item of set) {
    if (taken.length >= most) break;
    taken.push(item);
    set.delete(item);
  }
  return taken;
}

function workloadEntry(ledger: Ledger, key: WorkloadKey): Publication['workloads'][number] {
  const row = ledger.workloads.get(key);
  return [key, row ? { row, index: ledger.sourcesOf(key) } : undefined];
}
