import type { Catalog, Publication } from '@reroll/redis/catalog/catalog';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import type { Jobs, RowKeys } from '@reroll/core/state/outbox';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import type { Queues, ReloadToEnqueue } from '@reroll/redis/queue/queues';
import { ADOPTION_PAUSE, AdoptionRate, Corrections } from '../resync/adoption.ts';
import { CatalogWriter, type Rows } from './catalog-writer.ts';
import type { LeftOver } from './left-over.ts';
import { RowSizes } from './row-size.ts';
import { ROLLOUTS_PER_WRITE, type RolloutPublisher } from '../rollouts/rollout-publisher.ts';

export interface PublisherContext {
  readonly clusterState: ClusterState;
  readonly catalog: Catalog;
  readonly queues: Pick<Queues, 'enqueueChanges' | 'enqueueReloads' | 'enqueueResumes'>;
  readonly rollouts: RolloutPublisher;
  readonly metrics: WatcherMetrics;
  readonly log: Logger;
  /** Rows of the catalog for objects that no longer exist. Rejects if Redis cannot be read. */
  readonly leftOver: () => Promise<LeftOver>;
  readonly leadership: {
    /** Whether this watcher holds the Lease now; asked before each write. */
    isLeader(): boolean;
    /** Called when a newer leader has written. */
    refused(): void;
  };
  /** Called when all rows are written: after a takeover, and after Redis lost them. */
  readonly rewritten: () => void;
}

export interface PublisherSettings {
  readonly adoptionsPerSecond: number;
  /**
   * With `--webhook-url`, changes are only posted and no workload is enqueued, except to finish what was begun
   * before: pauses still end, and a pending Job, which may be all that remains of a Job, is still recreated.
   */
  readonly notifyOnly?: boolean;
}

/** Rows in one call of the catalog's script, which blocks Redis while it runs. */
const ROWS_PER_WRITE = ROLLOUTS_PER_WRITE;
/** Jobs of each queue in one turn. */
const JOBS_PER_WRITE = 500;
const NO_READINGS: RowKeys['readings'] = new Map();
const MIN_PAUSE = 100;
const MAX_PAUSE = 5_000;

/**
 * Writes the cluster state's outbox to Redis while this watcher leads. Each turn writes a bounded part, in this
 * order:
 *
 * 1. Rollouts, first those of the workloads whose rows step 2 writes, so that no reader finds such a row without its
 *    rollout. If this fails, the other steps go on.
 * 2. Rows, and with them the readings of sources that an event showed with other data.
 * 3. Change jobs. No job goes while a row waits that came with it or before, so that a worker finds the rows that its job
 *    needs. Rows that change later do not hold it up.
 * 4. Reload jobs. Those that only correct a record wait for a token of the adoption rate and have the lowest
 *    priority.
 * 5. Jobs that end pauses, delayed until the pause is over.
 *
 * A failed write is retried for ever, with growing pauses (`reroll_publish_retries_total`). The outbox holds only
 * keys, and hashes of sources that changed, so it never outgrows the cluster. Only one write is under way at a time.
 */
export class Publisher {
  readonly #context: PublisherContext;
  readonly #notifyOnly: boolean;
  readonly #corrections: Corrections;
  readonly #writer: CatalogWriter;
  readonly #sizes = new RowSizes();
  #term: string | null = null;
  #isPreparing = false;
  #verify = false;
  #asksForUntold = false;
  /** Redis lost writes, so rows may be back that were removed. */
  #asksForLeftOver = false;
  /** Whether all rows are being written. */
  #isRewriting = false;
  /** Whether the last readings could not be written; only the first failure is logged. */
  #failsToLeave = false;
  #pause = MIN_PAUSE;
  #isBackingOff = false;
  #loop: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(context: PublisherContext, { adoptionsPerSecond, notifyOnly = false }: PublisherSettings) {
    this.#context = context;
    this.#notifyOnly = notifyOnly;
    this.#writer = new CatalogWriter(context.catalog);
    this.#corrections = new Corrections(new AdoptionRate(adoptionsPerSecond));
  }

  /** Keeps the outbox from now on, because this watcher is about to lead. */
  prepare(): void {
    this.#isPreparing = true;
  }

  /** Undoes `prepare`: this watcher does not lead after all. */
  standBy(): void {
    this.#isPreparing = false;
    this.kick();
  }

  /** Begins to write under the term of the Lease that was just acquired. */
  lead(term: string): void {
    this.#isPreparing = false;
    this.#term = term;
    this.#writer.begin(term);
    this.#asksForUntold = true;
    this.#isRewriting = true;
    this.kick();
  }

  /** Writes what the outbox holds. A standby empties its outbox instead, because the leader does the work. */
  kick(): void {
    if (this.#term === null) {
      if (this.#isPreparing) return;
      this.#context.clusterState.outbox.clear();
      this.#context.rollouts.discard();
      return;
    }
    // After a failure, nothing is retried before the pause is over.
    if (this.#isBackingOff) return;
    this.#begin();
  }

  #begin(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isBackingOff = false;
    this.#loop ??= this.#run();
  }

  /** Checks before the next write that the catalog is intact, and rewrites it if not. */
  verify(): void {
    this.#verify = true;
    this.kick();
  }

  /** Enqueues a change job for every recorded change that may have none. */
  enqueueUntold(): void {
    this.#asksForUntold = true;
    this.kick();
  }

  /** Stops after the write that is under way. */
  async stop(): Promise<void> {
    this.#term = null;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#loop;
  }

  async #run(): Promise<void> {
    // Collects everything from this turn of the event loop into one write.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      while (this.#hasWork()) await this.#once();
      this.#pause = MIN_PAUSE;
      if (this.#isRewriting) this.#context.rewritten();
      this.#isRewriting = false;
      const { dueIn } = this.#context.rollouts;
      if (!this.#corrections.isEmpty) this.#later(ADOPTION_PAUSE);
      else if (dueIn !== undefined) this.#later(Math.max(dueIn, MIN_PAUSE));
    } catch (error) {
      this.#context.metrics.publishRetries.inc();
      this.#context.metrics.catalogWrites.inc({ result: 'error' });
      this.#context.log.failure('writing to Redis failed, retrying', error, {
        milliseconds: this.#pause,
      });
      this.#isBackingOff = true;
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
        this.#isUntoldDue ||
        this.#asksForLeftOver ||
        this.#writer.unanswered !== null ||
        this.#context.rollouts.dueIn === 0 ||
        !this.#context.clusterState.outbox.isEmpty() ||
        this.#corrections.isReady)
    );
  }

  /** Checked before each write: the process may have been frozen past its Lease between two writes. */
  #mayWrite(): boolean {
    return this.#term !== null && this.#context.leadership.isLeader();
  }

  #later(milliseconds: number): void {
    if (this.#term === null) return;
    this.#timer = setTimeout(() => this.#begin(), milliseconds);
  }

  async #once(): Promise<void> {
    if (!this.#writer.unanswered) await this.#verifyIfAsked();
    if (!(await this.#writeRows())) return;
    if (this.#isUntoldDue) await this.#findUntold();
    if (this.#asksForLeftOver) await this.#removeLeftOver();
    if (!this.#mayWrite()) return;
    const jobs = this.#context.clusterState.outbox.takeJobs(JOBS_PER_WRITE);
    try {
      await this.#enqueue(jobs);
    } catch (error) {
      this.#context.clusterState.outbox.putBackJobs(jobs);
      throw error;
    }
  }

  async #verifyIfAsked(): Promise<void> {
    if (!this.#verify) return;
    const intact = await this.#writer.isIntact();
    this.#verify = false;
    if (intact) return;
    this.#context.log.warning('the catalog does not match the last write, rewriting it');
    this.#writer.beginAnew();
    this.#assertAll();
  }

  /** Writes everything again and looks for lost jobs, because Redis lost what was written before. */
  #assertAll(): void {
    this.#context.clusterState.assertAll();
    this.#context.rollouts.assertAll();
    this.#asksForUntold = true;
    this.#asksForLeftOver = true;
    this.#isRewriting = true;
  }

  async #removeLeftOver(): Promise<void> {
    const { clusterState, leftOver } = this.#context;
    clusterState.removeLeftOver(await leftOver());
    this.#asksForLeftOver = false;
  }

  /** False before this leader's first write: until then an earlier leader can still add changes. */
  get #isUntoldDue(): boolean {
    return this.#asksForUntold && this.#writer.isFenced;
  }

  /**
   * Enqueues jobs for changes whose row was written but which may have no job: the leader ended in between, or Redis
   * was set back. Removes entries of sources that neither the cluster state nor the catalog has.
   */
  async #findUntold(): Promise<void> {
    const { clusterState, catalog } = this.#context;
    this.#asksForUntold = false;
    try {
      for await (const keys of catalog.eachUntold()) {
        const unknown = keys.filter((key) => !clusterState.sources.has(key));
        const rows = await catalog.sources(unknown);
        const leftOver = unknown.filter((key) => !rows.has(key));
        clusterState.removeLeftOver({ sources: leftOver, workloads: [] });
        for (const key of keys) clusterState.enqueueChange(key);
      }
    } catch (error) {
      this.#asksForUntold = true;
      throw error;
    }
  }

  /** Sends the unanswered write again, or writes the rows that have waited longest. False if this watcher no longer leads. */
  async #writeRows(): Promise<boolean> {
    const { unanswered } = this.#writer;
    const { rows, readings } = unanswered ? { rows: unanswered, readings: NO_READINGS } : this.#takeRows();
    if (!(await this.#writeRollouts(rows)) || !this.#mayWrite()) return false;
    if (rows.sources.length + rows.workloads.length === 0) return true;
    // In one round trip.
    const [, result] = await Promise.all([this.#leaveReadings(readings), this.#writer.write(rows)]);
    this.#context.metrics.catalogWrites.inc({ result: result.refused ? 'refused' : 'success' });
    if (result.refused) this.#refused();
    else this.#wrote(rows, result);
    return !result.refused;
  }

  /** False if this watcher no longer leads. */
  async #writeRollouts({ workloads }: Rows): Promise<boolean> {
    if (this.#term === null || !this.#mayWrite()) return false;
    const { rollouts, metrics, log } = this.#context;
    try {
      if (
        await rollouts.write(
          this.#term,
          workloads.map(([key]) => key),
        )
      )
        return true;
      this.#refused();
      return false;
    } catch (error) {
      metrics.publishRetries.inc();
      log.failure('writing rollouts to Redis failed, retrying', error);
      return true;
    }
  }

  #refused(): void {
    this.#term = null;
    this.#context.leadership.refused();
  }

  #takeRows(): { readonly rows: Rows; readonly readings: RowKeys['readings'] } {
    const { clusterState } = this.#context;
    const workloads: Rows['workloads'][number][] = [];
    const usedBy = this.#sizes.used();
    const add = (key: WorkloadKey): number => {
      const row = workloadEntry(clusterState, key);
      workloads.push(row);
      return usedBy(row);
    };
    const { sources, readings } = clusterState.outbox.takeRows(ROWS_PER_WRITE, add);
    const rows = {
      sources: sources.map(([key, foundBy]) => [key, clusterState.sources.get(key), foundBy] as const),
      workloads,
    };
    return { rows, readings };
  }

  /** A worker that finds no reading reads the source, as with a Redis user that may not write readings. */
  async #leaveReadings(readings: RowKeys['readings']): Promise<void> {
    const { catalog, log } = this.#context;
    if (this.#notifyOnly) return;
    if (readings.size === 0) return;
    try {
      await Promise.all([...readings].map(([source, reading]) => catalog.putReading(source, reading)));
      this.#failsToLeave = false;
    } catch (error) {
      if (!this.#failsToLeave)
        log.failure(
          'cannot leave the hashes of changed sources for the workers, which will read them',
          error,
        );
      this.#failsToLeave = true;
    }
  }

  #wrote(rows: Rows, { gap, changed }: { gap: boolean; changed: readonly SourceKey[] }): void {
    const { clusterState, log } = this.#context;
    for (const key of changed) clusterState.enqueueChange(key);
    if (!gap) {
      this.#sizes.wrote(rows.workloads);
      return;
    }
    log.warning('Redis lost an earlier write, rewriting the catalog');
    this.#putBackRows(rows);
    this.#assertAll();
  }

  #putBackRows({ sources, workloads }: Rows): void {
    this.#context.clusterState.outbox.putBackRows({
      sources: sources.map(([key, , foundBy]) => [key, foundBy] as const),
      workloads: workloads.map(([key]) => key),
    });
  }

  async #enqueue({ changes, reloads, resumes }: Jobs): Promise<void> {
    const { queues, metrics } = this.#context;
    const since = Date.now();
    await queues.enqueueChanges(changes, since);
    metrics.workqueueAdds.inc(changes.length);
    const ready = this.#ready(this.#notifyOnly ? this.#alreadyBegun(reloads) : reloads, since);
    try {
      await queues.enqueueReloads(ready);
    } catch (error) {
      // Those of earlier turns are in no outbox.
      for (const { workload, isAdoption } of ready) if (isAdoption) this.#corrections.put(workload);
      throw error;
    }
    metrics.workqueueAdds.inc(ready.length);
    await this.#enqueueResumes(resumes);
  }

  async #enqueueResumes(workloads: readonly WorkloadKey[]): Promise<void> {
    const { queues, clusterState } = this.#context;
    const resumes = workloads.flatMap((workload) => {
      const at = clusterState.workloads.get(workload)?.resumeAt;
      return at === undefined ? [] : [{ workload, at }];
    });
    await queues.enqueueResumes(resumes);
  }

  #alreadyBegun(reloads: Jobs['reloads']): Jobs['reloads'] {
    const { workloads } = this.#context.clusterState;
    return reloads.filter(([key]) => workloads.get(key)?.leftAlone === 'JobTwin');
  }

  /** The reload jobs to enqueue now: all pending ones, and as many corrections as there are tokens. */
  #ready(reloads: Jobs['reloads'], since: number): ReloadToEnqueue[] {
    const now: ReloadToEnqueue[] = [];
    for (const [workload, cause] of reloads) {
      if (cause === 'correct') this.#corrections.put(workload);
      else {
        this.#corrections.drop(workload);
        now.push({ workload, since });
      }
    }
    this.#context.metrics.wakes.inc({ reason: 'owed' }, now.length);
    const { clusterState } = this.#context;
    // Skips workloads that were deleted or left the scope while they waited.
    const corrections = this.#corrections
      .take()
      .filter((key) => clusterState.workloads.has(key))
      .map((workload) => ({ workload, since, isAdoption: true }));
    this.#context.metrics.wakes.inc({ reason: 'correct' }, corrections.length);
    return [...now, ...corrections];
  }
}

function workloadEntry(clusterState: ClusterState, key: WorkloadKey): Publication['workloads'][number] {
  const row = clusterState.workloads.get(key);
  return [key, row ? { row, index: clusterState.sourcesOf(key) } : undefined];
}
