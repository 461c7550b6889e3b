import { Option } from 'commander';
import type { Session } from '../session.ts';

export interface DirectOptions {
  readonly direct?: boolean;
}

export function directOption(): Option {
  return new Option('--direct', 'read the cluster with your own rights, also if there is an admin');
}

/** Whether the cluster is to be read: it was asked for, or there is no admin. */
export async function isDirect(session: Session, { direct }: DirectOptions): Promise<boolean> {
  if (direct === true) return true;
  if ((await session.adminIfAny()) !== undefined) return false;
  session.io.err('Found no admin: reading the cluster with your own rights.\n');
  return true;
}

/** Parts words that name an object from flags of Reroll, which come after `--`. */
export function rerollFlags(words: readonly string[]): {
  words: readonly string[];
  flags: readonly string[];
} {
  const first = words.findIndex((word) => word.startsWith('-'));
  return first === -1 ? { words, flags: [] } : { words: words.slice(0, first), flags: words.slice(first) };
}
