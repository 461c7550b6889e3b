import { CANNOT_BE_READ } from '@reroll/core/holds/hold';
import { keyOf, refOf, type Ref } from '../../names.ts';
import { CONFLICT, counted, reasonWords, ROLLOUTS, STATES, type Look } from '../../words.ts';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import type { Job } from '@reroll/shared/api/queues';
import type { Workload, WorkloadSummary } from '@reroll/shared/api/workloads';

/** What is wrong with a subject; the order is that of the list. */
export const PROBLEMS = ['warning', 'stuck', 'failed', 'conflict', 'halted', 'held'] as const;
export type Problem = (typeof PROBLEMS)[number];

export const PROBLEM_LOOKS: Readonly<Record<Problem, Look>> = {
  warning: { word: 'Warning', meaning: 'The installation needs attention', sign: 'alert', tone: 'warn' },
  stuck: ROLLOUTS.stuck,
  failed: { ...STATES.failed, meaning: 'All attempts have failed' },
  conflict: CONFLICT,
  halted: {
    word: 'Halted',
    meaning: 'A workload failed to roll out, and the others wait',
    sign: 'alert',
    tone: 'bad',
  },
  held: STATES.held,
};

/** A pending reload that these hold goes on without anybody: another rollout has its turn. But not if waves cannot be read. */
const TURNS: readonly string[] = ['AwaitsWave', 'AwaitsRollouts'];

export interface AttentionItem {
  readonly key: string;
  readonly problem: Problem;
  /** A workload, source or job; undefined: the sentence in `why` is about the whole installation. */
  readonly subject?: Ref;
  readonly since: string | null;
  /** One line. */
  readonly why: string;
  /** The id of the change that its page tells more about. */
  readonly change?: string;
  readonly job?: string;
  /** What `approveWorkload` takes. */
  readonly approval?: string;
}

/** Workloads that were looked at, by key. */
export type Details = ReadonlyMap<string, Workload>;

export function stuckItem(workload: WorkloadSummary, details: Details): AttentionItem {
  const rollout = details.get(keyOf(workload))?.rolloutInDetail;
  return {
    key: keyOf(workload),
    problem: 'stuck',
    subject: workload,
    since: rollout?.since ?? rollout?.at ?? null,
    why: rollout ? whyStuck(rollout) : PROBLEM_LOOKS.stuck.meaning,
  };
}

/** What the pods say, else what the cluster says of the workload. */
export function whyStuck({ pods, conditions, code }: Workload['rolloutInDetail']): string {
  const [pod] = pods ?? [];
  if (pod) return [`Pod ${pod.name}: ${pod.reason}`, pod.message].filter((part) => part !== '').join(', ');
  const condition = conditions.find(({ message }) => message !== undefined && message !== '');
  return condition?.message ?? `New pods do not become ready (${code})`;
}

export function failedJobItem(job: Job): AttentionItem {
  const { id, queue, endedAt, since } = job;
  const subject = job.subject ?? '';
  const ref = refOf(subject);
  return {
    key: queue === 'reloads' && subject !== '' ? subject : id,
    problem: 'failed',
    ...(ref ? { subject: ref } : {}),
    since: endedAt ?? since,
    why: whyFailed(job),
    job: id,
  };
}

function whyFailed({ error, queue, attempts: { made, most } }: Job): string {
  return `${error ?? 'No error was recorded'} (queue ${queue}, ${made} of ${most} attempts)`;
}

export function haltedItem({ id, source, seenAt, halted }: ChangeSummary): AttentionItem {
  return {
    key: id,
    problem: 'halted',
    ...(source ? { subject: source } : {}),
    since: seenAt,
    why: `Its change is halted: a workload failed to roll out, and ${counted(halted, 'workload')} ${halted === 1 ? 'waits' : 'wait'} for it`,
    change: id,
  };
}

/** @param isHaltTold whether a halted change is told by itself, so that what waits for it need not be */
export function pendingItem(
  workload: WorkloadSummary,
  details: Details,
  isHaltTold: boolean,
): AttentionItem[] {
  const { contested, hold } = workload;
  const key = keyOf(workload);
  const item = { key, subject: workload, since: details.get(key)?.history[0]?.at ?? null };
  if (contested) return [{ ...item, problem: 'conflict', why: reasonWords('Contested') }];
  if (hold) return isHaltTold && hold.reason === 'WaveHalted' ? [] : heldItem(item, hold);
  return [];
}

/** Of the history, also if the failed job is not kept any more. */
export function failedItem(workload: WorkloadSummary): AttentionItem[] {
  const { lastAttempt } = workload;
  if (lastAttempt?.state !== 'failed') return [];
  const { at, error, reason } = lastAttempt;
  const why = error ?? reasonWords(reason);
  return [{ key: keyOf(workload), problem: 'failed', subject: workload, since: at, why }];
}

function heldItem(
  item: Omit<AttentionItem, 'problem' | 'why'>,
  { reason, detail, id }: NonNullable<Workload['hold']>,
): AttentionItem[] {
  if (TURNS.includes(reason) && !detail.includes(CANNOT_BE_READ)) return [];
  const why = detail === '' ? reasonWords(reason) : detail;
  return [{ ...item, problem: 'held', why, ...(id === null ? {} : { approval: id }) }];
}
