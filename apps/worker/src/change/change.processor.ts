import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { History } from '@reroll/redis/history/history';
import type { SourceHashes } from '@reroll/redis/catalog/reading-codec';
import { changeCause, type Before } from '@reroll/core/history/change-cause';
import type { ChangeEntry, JudgedWorkload } from '@reroll/core/history/entries';
import { judgeDependency } from '@reroll/core/state/dependencies/dependencies';
import { sourceNameOf, type WorkloadRow } from '@reroll/core/state/rows';
import { markerType } from '@reroll/core/marker/marker-type';
import {
  kindOf,
  isWorkloadKey,
  partsOf,
  type SourceId,
  type SourceKey,
  type WorkloadKey,
} from '@reroll/core/model';
import type { DecisionSettings } from '@reroll/core/rules/decision';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';
import type { ChangeJob } from '@reroll/redis/queue/jobs';
import type { Queues } from '@reroll/redis/queue/queues';
import type { OutcomeRecorder } from '../outcome-recorder.ts';
import type { SourceAbsence, SourceNow, SourceReader } from './source-reader.ts';
import type { Webhook } from '../notify/webhook.ts';

export interface ChangeContext {
  readonly catalog: Catalog;
  readonly queues: Queues;
  readonly sources: SourceReader;
  readonly decision: DecisionSettings;
  readonly history: Pick<History, 'before'>;
  readonly outcomes: OutcomeRecorder;
  readonly metrics: WorkerMetrics;
  readonly log: Logger;
  /** Given if changes are posted there, and nothing is reloaded. */
  readonly webhook?: Webhook | undefined;
}

/** Workloads that are read from the catalog, judged and enqueued together; other jobs go on between two portions. */
export const USERS_PER_PORTION = 250;

/** What a change job found of its source. */
interface Found {
  readonly before: Before | undefined;
  readonly now: Pick<SourceNow, 'hash'> | SourceAbsence;
}

interface JudgedUser extends JudgedWorkload {
  readonly enqueue: boolean;
}

/**
 * A change job: read the source now, hash it, find its workloads in the catalog and enqueue each that the
 * rules say yes for. What decides is the workload as it is when its own job runs; here the catalog's row is
 * enough to leave those alone that did not ask.
 */
export class ChangeProcessor {
  readonly #context: ChangeContext;

  constructor(context: ChangeContext) {
    this.#context = context;
  }

  /** Rejects with a `KubeError` or ioredis' error; to be repeated then. */
  async handle(job: ChangeJob): Promise<void> {
    const { catalog, sources, history, outcomes, webhook } = this.#context;
    const source = partsOf(job.source);
    // Asked for before the source is read: of a change that comes in between the next job tells.
    const [before, users] = await Promise.all([history.before(job.source), this.#users(job.source)]);
    if (users.length === 0 && !webhook) {
      const now = await this.#known(job.source);
      return outcomes.addQuietChange(changeEntry(job, { before, now, judged: [] }));
    }
    const now = await sources.read(source);
    if (webhook) return await this.#notify(job, webhook, { before, now });
    const exists = typeof now !== 'string';
    const [judged] = exists
      ? await Promise.all([this.#judgeAll(job.source, users), catalog.putReading(job.source, hashesOf(now))])
      : [[]];
    const entry = changeEntry(job, { before, now, judged });
    const woken = entry.woken.map(({ workload }) => workload);
    outcomes.expectOutcomes(entry);
    await this.#enqueue(job, woken);
    this.#tellNotAsked(source, judged);
    if (woken.length === 0) outcomes.addQuietChange(entry);
    else outcomes.addChange({ ...entry, at: Date.now() });
  }

  /** Sorted, as the history needs it. Of the index, which others could have written into, only what can be a workload. */
  async #users(source: SourceKey): Promise<WorkloadKey[]> {
    const users = new Set<WorkloadKey>();
    for await (const some of this.#context.catalog.eachUser(source, USERS_PER_PORTION))
      for (const key of some) if (isWorkloadKey(key)) users.add(key);
    return [...users].sort();
  }

  /** A source that nobody uses is not read: the leader's row says what the history tells. */
  async #known(source: SourceKey): Promise<Found['now']> {
    const row = (await this.#context.catalog.sources([source])).get(source);
    return row?.exists ? { hash: row.hash } : 'SourceAbsent';
  }

  /** As stakater/Reloader, which says nothing of what is ignored, excluded, or used by no container. */
  #tellNotAsked({ kind, name, namespace }: SourceId, judged: readonly JudgedUser[]): void {
    const text = `No changes detected in '${name}' of type '${markerType(kind)}' in namespace '${namespace}'`;
    for (const { workload, reason } of judged)
      if (reason === 'NotAnnotated') this.#context.log.debug(text, { workload });
  }

  async #notify(
    job: ChangeJob,
    webhook: Webhook,
    found: Found & { readonly now: SourceNow | SourceAbsence },
  ): Promise<void> {
    await webhook.changed(job.source, found.now);
    this.#context.outcomes.addChange(changeEntry(job, { ...found, judged: [] }));
  }

  async #judgeAll(source: SourceKey, users: readonly WorkloadKey[]): Promise<JudgedUser[]> {
    const sources = await this.#context.catalog.sources([source]);
    const annotations = sources.get(source)?.annotations ?? {};
    const judged: JudgedUser[] = [];
    for (const some of portionsOf(users)) judged.push(...(await this.#judge(source, annotations, some)));
    return judged;
  }

  async #judge(
    source: SourceKey,
    annotations: Readonly<Record<string, string>>,
    users: readonly WorkloadKey[],
  ): Promise<JudgedUser[]> {
    const { catalog, metrics } = this.#context;
    const rows = await catalog.workloads(users);
    const judged = [...rows].map(([workload, row]) => this.#judgeOne(source, annotations, { workload, row }));
    for (const { workload, enqueue, reason } of judged) {
      metrics.workloadsScanned.inc({ kind: kindOf(workload) });
      if (enqueue) metrics.workloadsMatched.inc({ kind: kindOf(workload) });
      else
        metrics.skipped.inc({
          reason: reason === 'NoContainer' ? 'strategy_not_updated' : 'ignored_or_not_selected',
        });
    }
    return judged;
  }

  #judgeOne(
    source: SourceKey,
    annotations: Readonly<Record<string, string>>,
    { workload, row }: { workload: WorkloadKey; row: WorkloadRow },
  ): JudgedUser {
    const { decision, isCarried } = judgeDependency(
      { workload: { ...row, kind: kindOf(workload) }, source: sourceNameOf(source), annotations },
      this.#context.decision,
    );
    const { reason, detail = '' } = decision;
    if (!decision.reload) return { workload, enqueue: false, reason, detail };
    if (isCarried) return { workload, enqueue: true, reason, detail };
    return {
      workload,
      enqueue: false,
      reason: 'NoContainer',
      detail: 'no container of its pod template uses it',
    };
  }

  /** A job that ends in the middle is repeated from the start: the workloads that have their job get no other. */
  async #enqueue({ source, since }: ChangeJob, workloads: readonly WorkloadKey[]): Promise<void> {
    const { queues, catalog, metrics } = this.#context;
    for (const some of portionsOf(workloads)) {
      await queues.enqueueReloads(some.map((workload) => ({ workload, since, source })));
      metrics.workqueueAdds.inc(some.length);
      await queues.bringForward((await catalog.backingOff(some)).values());
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

function changeEntry(job: ChangeJob, found: Found & { judged: readonly JudgedUser[] }): ChangeEntry {
  const { before, now, judged } = found;
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
