import type { BulkItem } from '@reroll/shared/api/bulk';
import type { Tone } from '../output/color.ts';
import type { ListView } from '../output/print.ts';
import { toned } from '../output/table.ts';

const TONES: Readonly<Partial<Record<string, Tone>>> = {
  done: 'good',
  refused: 'bad',
  failed: 'bad',
  notStarted: 'waiting',
};

/** Of workloads. */
export const BULK_VIEW: ListView<BulkItem> = {
  nameOf: ({ target }) => target,
  columns: [
    { title: 'TARGET', cell: ({ target }) => target },
    { title: 'RESULT', cell: ({ result }) => toned(result, TONES[result]) },
    { title: 'ID', cell: ({ id }) => id ?? '' },
    {
      title: 'PROBLEM',
      cell: ({ problem }) => (problem ? [problem.code, problem.detail].filter(Boolean).join(': ') : ''),
    },
  ],
};

export const BULK_OF_JOBS_VIEW: ListView<BulkItem> = {
  ...BULK_VIEW,
  nameOf: ({ id, target }) => id ?? target,
};
