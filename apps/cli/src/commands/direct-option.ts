import { Option } from 'commander';
import { AdminElsewhere } from '../connect/find-admin.ts';
import { usageError } from '../errors.ts';
import { safeText } from '../output/safe-text.ts';
import type { Session } from '../session.ts';

export interface DirectOptions {
  readonly direct?: boolean;
}

export const FLAGS = ['[flags...]', "after --: Reroll's flags to assume, with --direct"] as const;

export function directOption(): Option {
  return new Option('--direct', 'read the cluster with your own rights, even if there is an admin');
}

/**
 * Whether to read the cluster: `--direct` was given, or there is no admin.
 * @throws a usage error for `flags` of Reroll with an admin, which has its own
 */
export async function isDirect(
  session: Session,
  { direct }: DirectOptions,
  flags: readonly string[],
): Promise<boolean> {
  if (direct === true) return true;
  const why = await whyNoAdmin(session);
  if (why === undefined) {
    if (flags.length === 0) return false;
    throw usageError(`expected --direct with flags after --, given ${JSON.stringify(flags.join(' '))}`);
  }
  session.io.err(`${why}: reading the cluster with your own rights.\n`);
  return true;
}

/** Undefined if there is one. */
async function whyNoAdmin(session: Session): Promise<string | undefined> {
  try {
    return (await session.adminIfAny()) === undefined ? 'Found no admin' : undefined;
  } catch (error) {
    if (!(error instanceof AdminElsewhere)) throw error;
    return safeText(`${upperFirst(error.message)}; ${error.hints.join('; ')}`);
  }
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Separates the words that name an object from the flags of Reroll, which follow `--`. */
export function rerollFlags(words: readonly string[]): {
  words: readonly string[];
  flags: readonly string[];
} {
  const first = words.findIndex((word) => word.startsWith('-'));
  return first === -1 ? { words, flags: [] } : { words: words.slice(0, first), flags: words.slice(first) };
}
