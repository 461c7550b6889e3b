/** How jobs run and are retried, and how long their history is kept. */
import { ALL, options, WORKER } from '../parsing/option.ts';
import { duration, integer } from '../parsing/values.ts';

const DAY = 86_400_000;

export const queueOptions = options('Queues and history', {
  concurrency: {
    flag: '--concurrency',
    default: '10',
    apps: WORKER,
    description: 'Jobs that one worker handles at the same time, per queue.',
    ...integer({ min: 1, max: 1000 }),
  },
  attempts: {
    flag: '--attempts',
    default: '5',
    apps: ALL,
    description: 'Attempts before a job fails. A later resync enqueues the workload again.',
    ...integer({ min: 1, max: 100 }),
  },
  backoff: {
    flag: '--backoff',
    default: '1s',
    apps: ALL,
    description: 'Pause before the second attempt. It doubles with each further attempt.',
    ...duration({ min: 1, max: DAY }),
  },
  stalledLock: {
    flag: '--stalled-lock',
    default: '30s',
    apps: WORKER,
    description: 'How long a job stays locked after its worker disappeared.',
    ...duration({ min: 1_000, max: DAY }),
  },
  historyMaxChanges: {
    flag: '--history-max-changes',
    default: '10000',
    apps: ALL,
    description: 'Maximum number of changes, and of outcomes, in the history.',
    ...integer({ min: 1 }),
  },
  historyMaxBytes: {
    flag: '--history-max-bytes',
    default: '33554432',
    apps: ALL,
    description:
      'Maximum size of the history in Redis, in bytes: half for changes, a quarter for outcomes, an eighth each for rollouts and the audit log.',
    ...integer({ min: 1_048_576 }),
  },
  historyMaxAge: {
    flag: '--history-max-age',
    default: '7d',
    apps: ALL,
    description: 'How long the history is kept.',
    ...duration({ min: 1_000, max: 3650 * DAY }),
  },
});
