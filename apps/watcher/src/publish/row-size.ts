import type { WorkloadRow } from '@reroll/core/state/rows';

type Row = Pick<
  WorkloadRow,
  'uses' | 'mentions' | 'dependencies' | 'unverified' | 'stale' | 'annotations' | 'podAnnotations' | 'record'
>;

/** Roughly the characters of a workload's row: those of its names and texts, of which its owner may write a megabyte. */
export function sizeOf(row: Row): number {
  const { annotations, podAnnotations, record = '' } = row;
  const names = [row.uses, row.mentions, row.dependencies, row.unverified, row.stale];
  const texts = [Object.values(annotations), Object.values(podAnnotations)];
  return [...names, ...texts].reduce((sum, each) => sum + charactersOf(each), record.length);
}

function charactersOf(texts: readonly string[]): number {
  let sum = 0;
  for (const { length } of texts) sum += length;
  return sum;
}
