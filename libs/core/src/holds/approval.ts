import { createHash } from 'node:crypto';
import type { SourceName, SourceRow } from '../state/rows.ts';
import { given } from './hold.ts';

/** The form of a `pendingId`. */
export const PENDING_ID = /^[0-9a-f]{10}$/u;
const ID_IN_TEXT = /\bid ([0-9a-f]{10})\b/u;

/** The id in the text that tells of a workload which awaits an approval; undefined if there is none. */
export function pendingIdIn(text: string): string | undefined {
  return ID_IN_TEXT.exec(text)?.[1];
}

/** Whether reloads need an approval; a value that cannot be read asks for one, and `problem` says so. */
export function readApproval(text: string | undefined): {
  readonly isRequired: boolean;
  readonly problem?: string;
} {
  if (text === undefined || text === 'none') return { isRequired: false };
  return text === 'required'
    ? { isRequired: true }
    : { isRequired: true, problem: `expected required or none, ${given(text)}` };
}

export interface PendingChanges {
  /** Of the workload. */
  readonly uid: string;
  /** The sources for which the pods would be replaced. */
  readonly sources: readonly (readonly [SourceName, SourceRow | undefined])[];
  /** The id of a manual reload. */
  readonly request?: string | undefined;
}

/**
 * Returns the id of exactly what is pending: ten hexadecimal digits. It changes with each write of data, because the resourceVersion of
 * the data is part of it, so nothing later has an id that was approved.
 */
export function pendingId({ uid, sources, request = '' }: PendingChanges): string {
  const changes = sources
    .map(([name, row]) => [name, row?.exists === false ? row.rv : (row?.dataRv ?? '')] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([uid, request, changes]))
    .digest('hex')
    .slice(0, 10);
}
