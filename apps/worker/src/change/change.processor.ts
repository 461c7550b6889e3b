import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { History } from '@reroll/redis/history/history';
import type { SourceHashes } from '@reroll/redis/catalog/reading-codec';
import { changeCause, type Before } from '@reroll/core/history/change-cause';
import type { ChangeEntry, JudgedWorkload } from '@reroll/core/history/entries';
import { judgeDependency } from '@reroll/core/state/dependencies/dependencies';
import { sourceNameOf, type WorkloadRow } from '@reroll/core/state/rows';
import { isWorkloadKey, kindOf, partsOf, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import type { DecisionSettings } from '@reroll/core/rules/decision';
import { changeJob, type ChangeJob } from '@reroll/redis/queue/jobs';
import { CHANGES, type Queues } from '@reroll/redis/queue/queues';
import type { JobError } from '../job-error.ts';
import type { Attempt, FailedAttempt, QueueHandler } from '../queue-runner.ts';
import type { ChangeReports } from './change-reports.ts';
import type { SourceAbsence, SourceNow, SourceReader } from './source-reader.ts';
import type { Webhook } from '../notify/webhook.ts';

/** What a change job reads, and whom it tells. */
export interface ChangePorts {
  readonly catalog: Pick<Catalog, 'eachUser' | 'workloads' | 'sources' | 'putReading' | 'backingOff'>;
  readonly sources: Pick<SourceReader, 'read'>;
  readonly history: Pick<History, 'before'>;
  readonly queue: Pick<Queues, 'enqueueReloads' | 'bringForward'>;
  readonly reports: Pick<ChangeReports, 'judged' | 'expect' | 'enqueued' | 'ended' | 'failed'>;
  /** Given if changes are posted there, and nothing is reloaded. */
  readonly webhook?: Pick<Webhook, 'changed'> | undefined;
}

/** What came of a change job. */
export interface ChangeOutcome {
  readonly entry: ChangeEntry;
  /** Nobody was enqueued or notified. */
  readonly isQuiet: boolean;
}

/** Workloads that are read from the catalog, judged and enqueued together; other jobs go on between two portions. */
export const USERS_PER_PORTION = 250;

/** A user of the source, and whether a change enqueues it. */
export interface JudgedUser extends JudgedWorkload {
  readonly enqueue: boolean;
}

/**
 * A change job: read the source now, hash it, find its workloads in the catalog and enqueue each that the
 * rules say yes for. What decides is the workload as it is when its own job runs; here the catalog's row is
 * enough to leave those alone that did not ask.
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

  /** Rejects with a `KubeError` or ioredis' error; to be repeated then. */
  async process(job: ChangeJob): Promise<ChangeOutcome> {
    const { sources, history, reports, webhook } = this.#ports;
    // Asked for before the source is read: of a change that comes in between the next job tells.
    const [before, users] = await Promise.all([history.before(job.source), this.#users(job.source)]);
    if (users.length === 0 && !webhook) {
      const now = await this.#known(job.source);
      return { entry: changeEntry(job, { before, now, judged: [] }), isQuiet: true };
    }
    const now = await sources.read(partsOf(job.source));
    if (webhook) {
      await webhook.changed(job.source, now);
      return { entry: changeEntry(job, { before, now, judged: [] }), isQuiet: false };
    }
    const judged = typeof now === 'string' ? [] : await this.#judgeAll(job.source, users, now);
    const entry = changeEntry(job, { before, now, judged });
    reports.expect(entry);
    await this.#enqueue(
      job,
      entry.woken.map(({ workload }) => workload),
    );
    return { entry: { ...entry, at: Date.now() }, isQuiet: entry.woken.length === 0 };
  }

  /** Sorted, as the history needs it. Of the index, which others could have written into, only what can be a workload. */
  async #users(source: SourceKey): Promise<WorkloadKey[]> {
    const users = new Set<WorkloadKey>();
    for await (const some of this.#ports.catalog.eachUser(source, USERS_PER_PORTION))
      for (const key of some) if (isWorkloadKey(key)) users.add(key);
    return [...users].sort();
  }

  /** A source that nobody uses is not read: the leader's row says what the history tells. */
  async #known(source: SourceKey): Promise<ChangeFacts['now']> {
    const row = (await this.#ports.catalog.sources([source])).get(source);
    return row?.exists ? { hash: row.hash } : 'SourceAbsent';
  }

  async #judgeAll(source: SourceKey, users: readonly WorkloadKey[], now: SourceNow): Promise<JudgedUser[]> {
    const { catalog } = this.#ports;
    const judge = async (): Promise<JudgedUser[]> => {
      const annotations = (await catalog.sources([source])).get(source)?.annotations ?? {};
      const judged: JudgedUser[] = [];
      for (const some of portionsOf(users)) judged.push(...(await this.#judge(source, annotations, some)));
      return judged;
    };
    const [judged] = await Promise.all([judge(), catalog.putReading(source, hashesOf(now))]);
    return judged;
  }

  async #judge(
    source: SourceKey,
    annotations: Readonly<Record<string, string>>,
    users: readonly WorkloadKey[],
  ): Promise<JudgedUser[]> {
    const rows = await this.#ports.catalog.workloads(users);
    const judged = [...rows].map(([workload, row]) => this.#judgeOne(source, annotations, { workload, row }));
    this.#ports.reports.judged(judged);
    return judged;
  }

  #judgeOne(
    source: SourceKey,
    annotations: Readonly<Record<string, string>>,
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

  /** A job that ends in the middle is repeated from the start: the workloads that have their job get no other. */
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

/** What is handed to the reload jobs: no data. */
function hashesOf({ rv, hash, markerHash }: SourceNow): SourceHashes {
  return { rv, hash, markerHash };
}

interface ChangeFacts {
  readonly before: Before | undefined;
  readonly now: Pick<SourceNow, 'hash'> | SourceAbsence;
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
