/** How jobs run and are retried, and how long their history is kept. */
import { ALL, option, WORKER } from '../parsing/option.ts';
import { duration, integer } from '../parsing/values.ts';

const DAY = 86_400_000;

export const queueOptions = {
  concurrency: option({
    flag: '--concurrency',
    env: 'REROLL_CONCURRENCY',
    default: '10',
    apps: WORKER,
    group: 'Queues and history',
    description: 'Number of jobs that one worker handles at the same time, per queue.',
    ...integer({ min: 1, max: 1000 }),
  }),
  attempts: option({
    flag: '--attempts',
    env: 'REROLL_ATTEMPTS',
    default: '5',
    apps: ALL,
    group: 'Queues and history',
    description: 'How often a job is tried before it fails. A later resync enqueues the workload again.',
    ...integer({ min: 1, max: 100 }),
  }),
  backoff: option({
    flag: '--backoff',
    env: 'REROLL_BACKOFF',
    default: '1s',
    apps: ALL,
    group: 'Queues and history',
    description: 'Pause before the second attempt. It doubles with each further attempt.',
    ...duration({ min: 1, max: DAY }),
  }),
  stalledLock: option({
    flag: '--stalled-lock',
    env: 'REROLL_STALLED_LOCK',
    default: '30s',
    apps: WORKER,
    group: 'Queues and history',
    description: 'How long a job of a worker that disappeared stays locked before another worker takes it.',
    ...duration({ min: 1_000, max: DAY }),
  }),
  historyMaxChanges: option({
    flag: '--history-max-changes',
    env: 'REROLL_HISTORY_MAX_CHANGES',
    default: '10000',
    apps: ALL,
    group: 'Queues and history',
    description: 'Maximum number of changes, and of outcomes, in the history.',
    ...integer({ min: 1 }),
  }),
  historyMaxBytes: option({
    flag: '--history-max-bytes',
    env: 'REROLL_HISTORY_MAX_BYTES',
    default: '33554432',
    apps: ALL,
    group: 'Queues and history',
    description:
      'Maximum size of the history in Redis, in bytes: half for changes, a quarter for outcomes, and an eighth each for rollouts and the audit log.',
    ...integer({ min: 1_048_576 }),
  }),
  historyMaxAge: option({
    flag: '--history-max-age',
    env: 'REROLL_HISTORY_MAX_AGE',
    default: '7d',
    apps: ALL,
    group: 'Queues and history',
    description: 'How long the history is kept.',
    ...duration({ min: 1_000, max: 3650 * DAY }),
  }),
} as const;
