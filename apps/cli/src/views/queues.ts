import type { AuditEntry } from '@reroll/shared/api/audit';
import type { Job, Queue } from '@reroll/shared/api/queues';
import { age, humanDuration, until } from '../output/age.ts';
import { toneOf } from '../output/color.ts';
import type { ListView } from '../output/print.ts';
import { toned } from '../output/table.ts';

export const QUEUES_VIEW: ListView<Queue> = {
  nameOf: ({ name }) => name,
  columns: [
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'PAUSED', cell: ({ paused }) => toned(paused ? 'yes' : 'no', paused ? 'waiting' : undefined) },
    ...(['waiting', 'delayed', 'active', 'failed'] as const).map((state) => ({
      title: state.toUpperCase(),
      cell: ({ counts }: Queue) => {
        const count = counts[state] ?? 0;
        return toned(String(count), count > 0 && state === 'failed' ? 'bad' : undefined);
      },
    })),
    { title: 'OLDEST', cell: ({ oldestDueSeconds }) => humanDuration(oldestDueSeconds * 1_000) },
  ],
};

export function jobsView(now: number): ListView<Job> {
  return {
    nameOf: ({ id }) => id,
    columns: [
      { title: 'ID', cell: ({ id }) => id },
      { title: 'STATE', cell: ({ state }) => toned(state, toneOf(state)) },
      { title: 'SUBJECT', cell: ({ subject }) => subject ?? '' },
      { title: 'ATTEMPTS', cell: ({ attempts }) => `${attempts.made}/${attempts.most}` },
      { title: 'AGE', cell: ({ createdAt }) => age(createdAt, now) },
      { title: 'NEXT', cell: (job) => (job.until === null ? '' : until(job.until, now)) },
      { title: 'ERROR', cell: ({ error }) => error ?? '' },
    ],
  };
}

export function auditView(now: number): ListView<AuditEntry> {
  return {
    nameOf: ({ id }) => id,
    columns: [
      { title: 'AGE', cell: ({ at }) => age(at, now) },
      { title: 'ACTOR', cell: ({ actor }) => actor },
      { title: 'ACTION', cell: ({ action }) => action },
      { title: 'TARGET', cell: ({ target }) => target },
      { title: 'RESULT', cell: ({ result }) => toned(result, result === 'done' ? 'good' : 'bad') },
      { title: 'REASON', cell: ({ reason }) => reason },
      { title: 'REQUEST', wide: true, cell: ({ requestId }) => requestId },
    ],
  };
}
