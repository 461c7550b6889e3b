import type { Catalog, Publication } from '@reroll/redis/catalog/catalog';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import type { Jobs } from '@reroll/core/state/outbox';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import type { Queues, ReloadToEnqueue } from '@reroll/redis/queue/queues';
import { takeFrom } from '@reroll/core/take-from';
import { ADOPTION_PAUSE, AdoptionRate } from '../resync/adoption.ts';
import { CatalogWriter, type Rows } from './catalog-writer.ts';
import { ROLLOUTS_PER_WRITE, type RolloutPublisher } from '../rollouts/rollout-publisher.ts';

export interface PublisherContext {
  readonly clusterState: ClusterState;
  readonly catalog: Catalog;
  readonly queues: Pick<Queues, 'enqueueChanges' | 'enqueueReloads' | 'enqueueResumes'>;
  readonly rollouts: RolloutPublisher;
  readonly metrics: WatcherMetrics;
  readonly log: Logger;
  readonly leadership: {
    /** Whether the Lease is ours at this moment; asked before each write. */
    isLeader(): boolean;
    /** Called when a newer leader has written. */
    refused(): void;
  };
}

export interface PublisherSettings {
  readonly adoptionsPerSecond: number;
  /**
   * Changes are posted to `--webhook-url`: no workload is enqueued. What was begun before is finished all the same: a pause
   * of ours ends, and a pending Job is what is left of a Job.
   */
  readonly notifyOnly?: boolean;
}

/** Rows in one call of the catalog's script, which holds up every other user of Redis while it runs. */
const ROWS_PER_WRITE = ROLLOUTS_PER_WRITE;
/** Jobs of one queue in one turn. */
const JOBS_PER_WRITE = 500;
const MIN_PAUSE = 100;
const MAX_PAUSE = 5_000;

/**
 * Carries the cluster state's outbox to Redis, while this watcher leads. Each turn sends a bounded part of it, in this order:
 *
 * 1. rollouts, those of the workloads of step 2 first: nobody finds the row of a workload that is being rolled out and
 *    no rollout. If they cannot be written, the other steps go on without them;
 * 2. rows. If more are waiting, the turn ends here: a worker finds what its job is judged by;
 * 3. change jobs;
 * 4. reload jobs; those that only correct a record wait for a token of the adoption rate, and in the queue behind all others;
 * 5. the ends of pauses, as jobs that wait until then.
 *
 * What could not be written is tried again, with growing pauses and for ever (`reroll_publish_retries_total`): it is
 * identity only, so it never grows past the cluster. One write at a time.
 */
export class Publisher {
  readonly #context: PublisherContext;
  readonly #notifyOnly: boolean;
  readonly #adoptions: AdoptionRate;
  readonly #corrections = new Set<WorkloadKey>();
  readonly #writer: CatalogWriter;
  #term: string | null = null;
  #isPreparing = false;
  #verify = false;
  #asksForUntold = false;
  #pause = MIN_PAUSE;
  #isBackingOff = false;
  #loop: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(context: PublisherContext, { adoptionsPerSecond, notifyOnly = false }: PublisherSettings) {
    this.#context = context;
    this.#notifyOnly = notifyOnly;
    this.#writer = new CatalogWriter(context.catalog);
    this.#adoptions = new AdoptionRate(adoptionsPerSecond);
  }

  /** Keeps what the outbox has from now on: this watcher is about to lead. */
  prepare(): void {
    this.#isPreparing = true;
  }

  /** It does not lead after all. */
  standBy(): void {
    this.#isPreparing = false;
    this.kick();
  }

  /** Begins to write, under the term of a Lease just acquired. */
  lead(term: string): void {
    this.#isPreparing = false;
    this.#term = term;
    this.#writer.begin(term);
    this.#asksForUntold = true;
    this.kick();
  }

  /** Looks at the outbox. A standby's is emptied: its leader does what is to be done. */
  kick(): void {
    if (this.#term === null) {
      if (this.#isPreparing) return;
      this.#context.clusterState.outbox.clear();
      this.#context.rollouts.discard();
      return;
    }
    // What failed is not tried again before its pause is over, whatever else happens.
    if (this.#isBackingOff) return;
    this.#begin();
  }

  #begin(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isBackingOff = false;
    this.#loop ??= this.#run();
  }

  /** Asks at the next write whether the catalog still is what was written, and asserts it if not. */
  verify(): void {
    this.#verify = true;
    this.kick();
  }

  /** Enqueues a change job for every change that is written down and that nobody was told of yet. */
  enqueueUntold(): void {
    this.#asksForUntold = true;
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
      const { dueIn } = this.#context.rollouts;
      if (this.#corrections.size > 0) this.#later(ADOPTION_PAUSE);
      else if (dueIn !== undefined) this.#later(Math.max(dueIn, MIN_PAUSE));
    } catch (error) {
      this.#context.metrics.publishRetries.inc();
      this.#context.metrics.catalogWrites.inc({ result: 'error' });
      this.#context.log.failure('writing to Redis failed, trying again', error, {
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
        this.#writer.unanswered !== null ||
        this.#context.rollouts.dueIn === 0 ||
        !this.#context.clusterState.outbox.isEmpty() ||
        this.#adoptions.hasToken(this.#corrections.size))
    );
  }

  /** Asked before each write: between two of them this process may have been frozen past its Lease. */
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
    if (this.#context.clusterState.outbox.hasRows || !this.#mayWrite()) return;
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
    this.#context.log.warning('the catalog is not as it was written, rewriting it');
    this.#writer.beginAnew();
    this.#assertAll();
  }

  /** What was written before is gone: everything is written again, and jobs may be gone with it. */
  #assertAll(): void {
    this.#context.clusterState.assertAll();
    this.#context.rollouts.assertAll();
    this.#asksForUntold = true;
  }

  /** Before this leader's first write, an earlier one may still write more. */
  get #isUntoldDue(): boolean {
    return this.#asksForUntold && this.#writer.isFenced;
  }

  /**
   * Changes of which the row was written and perhaps no job enqueued: by a leader that ended in between, or before
   * Redis was set back. An entry of a source that neither the cluster state nor the catalog has is left over: it is removed.
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

  /** The write that was not answered, or the rows that have waited for longest. False if this watcher leads no more. */
  async #writeRows(): Promise<boolean> {
    const rows = this.#writer.unanswered ?? this.#takeRows();
    if (!(await this.#writeRollouts(rows)) || !this.#mayWrite()) return false;
    if (rows.sources.length + rows.workloads.length === 0) return true;
    const result = await this.#writer.write(rows);
    this.#context.metrics.catalogWrites.inc({ result: result.refused ? 'refused' : 'success' });
    if (result.refused) this.#refused();
    else this.#wrote(rows, result);
    return !result.refused;
  }

  /** False if this watcher leads no more. */
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
      log.failure('writing rollouts to Redis failed, trying again', error);
      return true;
    }
  }

  #refused(): void {
    this.#term = null;
    this.#context.leadership.refused();
  }

  #takeRows(): Rows {
    const { clusterState } = this.#context;
    const { sources, workloads } = clusterState.outbox.takeRows(ROWS_PER_WRITE);
    return {
      sources: sources.map(([key, foundBy]) => [key, clusterState.sources.get(key), foundBy] as const),
      workloads: workloads.map((key) => workloadEntry(clusterState, key)),
    };
  }

  #wrote(rows: Rows, { gap, changed }: { gap: boolean; changed: readonly SourceKey[] }): void {
    const { clusterState, log } = this.#context;
    for (const key of changed) clusterState.enqueueChange(key);
    if (!gap) return;
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
    const ready = this.#ready(this.#notifyOnly ? this.#begun(reloads) : reloads, since);
    await queues.enqueueReloads(ready);
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

  #begun(reloads: Jobs['reloads']): Jobs['reloads'] {
    const { workloads } = this.#context.clusterState;
    return reloads.filter(([key]) => workloads.get(key)?.leftAlone === 'JobTwin');
  }

  /** The reload jobs to enqueue now: all that are pending, and corrections as far as there are tokens. */
  #ready(reloads: Jobs['reloads'], since: number): ReloadToEnqueue[] {
    const now: ReloadToEnqueue[] = [];
    for (const [workload, cause] of reloads) {
      if (cause === 'correct') this.#corrections.add(workload);
      else {
        this.#corrections.delete(workload);
        now.push({ workload, since });
      }
    }
    this.#context.metrics.wakes.inc({ reason: 'owed' }, now.length);
    const { clusterState } = this.#context;
    // Of what was deleted or left the scope while it waited nobody needs to hear.
    const corrections = takeFrom(this.#corrections, this.#adoptions.take(this.#corrections.size))
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
