import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { History } from '@reroll/redis/history/history';
import { changeCause, type Before } from '@reroll/core/history/change-cause';
import type { ChangeEntry, JudgedWorkload } from '@reroll/core/history/entries';
import { judgeDependency } from '@reroll/core/state/dependencies/dependencies';
import { sourceNameOf, type SourceHashes, type SourceRow, type WorkloadRow } from '@reroll/core/state/rows';
import {
  isWorkloadKey,
  kindOf,
  partsOf,
  type Annotations,
  type SourceKey,
  type WorkloadKey,
} from '@reroll/core/model';
import type { DecisionSettings } from '@reroll/core/rules/decision';
import { changeJob, type ChangeJob } from '@reroll/redis/queue/jobs';
import { CHANGES, type Queues } from '@reroll/redis/queue/queues';
import type { JobError } from '../job-error.ts';
import type { Attempt, FailedAttempt, QueueHandler } from '../queue-runner.ts';
import type { ChangeReports } from './change-reports.ts';
import type { SourceAbsence, SourceReader } from './source-reader.ts';
import type { Webhook } from '../notify/webhook.ts';

export interface ChangePorts {
  readonly catalog: Pick<
    Catalog,
    'eachUser' | 'eachWorkloadOf' | 'sourceFacts' | 'putReading' | 'backingOff'
  >;
  readonly sources: Pick<SourceReader, 'read'>;
  readonly history: Pick<History, 'before'>;
  readonly queue: Pick<Queues, 'enqueueReloads' | 'bringForward'>;
  readonly reports: Pick<ChangeReports, 'judged' | 'expect' | 'enqueued' | 'ended' | 'failed'>;
  /** Defined if changes are posted to a webhook, instead of reloading anything. */
  readonly webhook?: Pick<Webhook, 'changed'> | undefined;
}

export interface ChangeOutcome {
  readonly entry: ChangeEntry;
  /** No workload was enqueued and nothing was posted. */
  readonly isQuiet: boolean;
}

/** Workloads that are read, judged and enqueued together. Other jobs run between two portions. */
export const USERS_PER_PORTION = 250;

/** A user of the source, and whether a change enqueues it. */
export interface JudgedUser extends JudgedWorkload {
  readonly enqueue: boolean;
}

/**
 * Handles a change job: takes the hashes of the source that the leader left or, if there are none, reads the source; finds its workloads
 * in the catalog, and enqueues those that the rules allow. The workload's own reload job decides by the workload as it is then. Here its row in the catalog is enough
 * to skip workloads that did not ask for reloads.
 */
export class ChangeProcessor implements QueueHandler<ChangeJob> {
  readonly queue = CHANGES;
  readonly schema = changeJob;
  readonly #ports: ChangePorts;
  readonly #decision: DecisionSettings;

  constructor(ports: ChangePorts, decision: DecisionSettings) {
    this.#ports = ports;
    this.#decision = decision;
  }

  async handle(job: ChangeJob, { startedAt }: Attempt): Promise<void> {
    this.#ports.reports.ended(job, await this.process(job), startedAt);
  }

  async failed(job: ChangeJob, error: JobError, attempt: FailedAttempt): Promise<void> {
    this.#ports.reports.failed(job, error, attempt);
  }

  /** Rejects with a `KubeError` or ioredis' error; the job must then be repeated. */
  async process(job: ChangeJob): Promise<ChangeOutcome> {
    const { catalog, history, reports } = this.#ports;
    const { source } = job;
    // Read before the source: a change that comes in between has a job of its own.
    const [before, users, facts] = await Promise.all([
      history.before(source),
      this.#users(source),
      catalog.sourceFacts([source]),
    ]);
    if (this.#ports.webhook) return await this.#post(job, before, this.#ports.webhook);
    const row = facts.sources.get(source);
    if (users.length === 0) {
      const now = row?.exists ? { hash: row.hash } : 'SourceAbsent';
      return { entry: changeEntry(job, { before, now, judged: [] }), isQuiet: true };
    }
    const now = leftFor(row, facts.readings.get(source)) ?? (await this.#read(source));
    const judged = typeof now === 'string' ? [] : await this.#judgeAll(source, row, users);
    const entry = changeEntry(job, { before, now, judged });
    reports.expect(entry);
    await this.#enqueue(
      job,
      entry.woken.map(({ workload }) => workload),
    );
    return { entry: { ...entry, at: Date.now() }, isQuiet: entry.woken.length === 0 };
  }

  /**
   * The users, sorted as the history needs them. Drops entries of the index that cannot be workloads, because others may
   * write to it.
   */
  async #users(source: SourceKey): Promise<WorkloadKey[]> {
    const users = new Set<WorkloadKey>();
    for await (const some of this.#ports.catalog.eachUser(source, USERS_PER_PORTION))
      for (const key of some) if (isWorkloadKey(key)) users.add(key);
    return [...users].sort();
  }

  async #post(
    job: ChangeJob,
    before: Before | undefined,
    webhook: Pick<Webhook, 'changed'>,
  ): Promise<ChangeOutcome> {
    const now = await this.#ports.sources.read(partsOf(job.source));
    await webhook.changed(job.source, now);
    return { entry: changeEntry(job, { before, now, judged: [] }), isQuiet: false };
  }

  /** Reads the source, and leaves its hashes for the reload jobs. */
  async #read(source: SourceKey): Promise<SourceHashes | SourceAbsence> {
    const now = await this.#ports.sources.read(partsOf(source));
    if (typeof now === 'string') return now;
    const { rv, hash, markerHash } = now;
    await this.#ports.catalog.putReading(source, { rv, hash, markerHash });
    return now;
  }

  async #judgeAll(
    source: SourceKey,
    row: SourceRow | undefined,
    users: readonly WorkloadKey[],
  ): Promise<JudgedUser[]> {
    const judged: JudgedUser[] = [];
    for (const some of portionsOf(users))
      judged.push(...(await this.#judge(source, row?.annotations ?? {}, some)));
    return judged;
  }

  async #judge(
    source: SourceKey,
    annotations: Annotations,
    users: readonly WorkloadKey[],
  ): Promise<JudgedUser[]> {
    const judged: JudgedUser[] = [];
    for await (const rows of this.#ports.catalog.eachWorkloadOf(users))
      for (const [workload, row] of rows) judged.push(this.#judgeOne(source, annotations, { workload, row }));
    this.#ports.reports.judged(judged);
    return judged;
  }

  #judgeOne(
    source: SourceKey,
    annotations: Annotations,
    { workload, row }: { workload: WorkloadKey; row: WorkloadRow },
  ): JudgedUser {
    const question = {
      workload: { ...row, kind: kindOf(workload) },
      source: sourceNameOf(source),
      annotations,
    };
    const { decision, isCarried } = judgeDependency(question, this.#decision);
    const { reason, detail = '' } = decision;
    if (!decision.reload || isCarried) return { workload, enqueue: decision.reload, reason, detail };
    const uncarried = 'no container of its pod template uses it';
    return { workload, enqueue: false, reason: 'NoContainer', detail: uncarried };
  }

  /** A job that fails halfway is repeated from the start. Workloads that already have a reload job get no second one. */
  async #enqueue({ source, since }: ChangeJob, workloads: readonly WorkloadKey[]): Promise<void> {
    const { queue, catalog, reports } = this.#ports;
    for (const some of portionsOf(workloads)) {
      await queue.enqueueReloads(some.map((workload) => ({ workload, since, source })));
      reports.enqueued(some.length);
      await queue.bringForward((await catalog.backingOff(some)).values());
    }
  }
}

function* portionsOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += USERS_PER_PORTION) yield items.slice(at, at + USERS_PER_PORTION);
}

/** The hashes that the leader left, if they are those of the row. */
function leftFor(row: SourceRow | undefined, reading: SourceHashes | undefined): SourceHashes | undefined {
  return row?.exists && reading?.rv === row.rv && reading.hash === row.hash ? reading : undefined;
}

interface ChangeFacts {
  readonly before: Before | undefined;
  readonly now: Pick<SourceHashes, 'hash'> | SourceAbsence;
  readonly judged: readonly JudgedUser[];
}

function changeEntry(job: ChangeJob, { before, now, judged }: ChangeFacts): ChangeEntry {
  const hash = typeof now === 'string' ? null : now.hash;
  return {
    source: job.source,
    ...changeCause(before, hash),
    since: job.since,
    at: Date.now(),
    hash,
    woken: judged.filter(({ enqueue }) => enqueue).map(judgedWorkload),
    leftAlone: judged.filter(({ enqueue }) => !enqueue).map(judgedWorkload),
  };
}

function judgedWorkload({ workload, reason, detail }: JudgedUser): JudgedWorkload {
  return { workload, reason, detail };
}
