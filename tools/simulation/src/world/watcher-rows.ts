/** What a watcher may have in memory, given what there has been in the world: docs/scaling.md ("Memory"), docs/adr/0031. */
import type { ClusterState } from '@reroll/core/state/cluster-state';

export type WatcherRows = Pick<ClusterState, 'sources' | 'workloads' | 'pending' | 'outbox'>;

/** Keys of the rows of a catalog, or of a watcher. */
export interface RowKeys {
  readonly sources: Iterable<string>;
  readonly workloads: Iterable<string>;
}

export function keysOf({ sources, workloads }: WatcherRows): RowKeys {
  return { sources: sources.keys(), workloads: workloads.keys() };
}

/** What is more than one entry for each source and each workload that there has been. */
export function tooManyRows(
  watcher: string,
  rows: WatcherRows,
  been: { readonly sources: number; readonly workloads: number },
): string[] {
  const { outbox } = rows;
  const parts = [
    ['rows of sources', rows.sources.size, been.sources],
    ['rows of workloads', rows.workloads.size, been.workloads],
    ['pending workloads', rows.pending.size, rows.workloads.size],
    ['sources to write', outbox.sources.size, been.sources],
    ['workloads to write', outbox.workloads.size, been.workloads],
    ['changes to enqueue', outbox.changes.size, been.sources],
    ['reloads to enqueue', outbox.reloads.size, been.workloads],
    ['resumes to enqueue', outbox.resumes.size, been.workloads],
  ] as const;
  return parts
    .filter(([, size, most]) => size > most)
    .map(([what, size, most]) => `${watcher} has ${size} ${what}, more than ${most}`);
}

/** The workloads that a watcher takes for pending. */
export function pendingIn({ pending }: WatcherRows): string[] {
  return [...pending].flatMap(([key, { cause }]) => (cause === 'owed' ? [key] : []));
}
