import { shown } from '@reroll/shared/platform/options/parsing/arguments';
import { VERSION } from '@reroll/shared/platform/process/version';

/** What the program can be, by its first argument. */
export const ROLES = {
  watcher: 'Watches sources and workloads, and enqueues what is pending.',
  worker: 'Reloads workloads.',
  admin: 'Serves the API and the dashboard.',
  all: 'All three in one process, with a Redis of its own unless it is given one.',
  'make-secrets': 'Makes the Secrets of an install that are not there yet, and ends.',
} as const;
export type Role = keyof typeof ROLES;

/** A role to start, or what to print instead. */
export type Choice = { readonly role: Role } | { readonly text: string; readonly exitCode: 0 | 2 };

/** @param first the first argument; the others are options of the role. */
export function choose(first: string | undefined): Choice {
  if (first !== undefined && isRole(first)) return { role: first };
  if (first === '--help' || first === '-h') return { text: HELP, exitCode: 0 };
  if (first === '--version') return { text: `reroll ${VERSION}`, exitCode: 0 };
  // The value of an option may be a secret.
  const given = first === undefined ? 'none' : shown(first.replace(/^(-[^=]*)=.*$/su, '$1'));
  const text = `expected watcher, worker, admin, all or make-secrets as the first argument; given ${given}\nRun with --help for what they are.`;
  return { text, exitCode: 2 };
}

function isRole(text: string): text is Role {
  return Object.hasOwn(ROLES, text);
}

const HELP = [
  'Usage: reroll <role> [flags]',
  `Roles:\n${Object.entries(ROLES)
    .map(([role, text]) => `  ${role}\n        ${text}`)
    .join('\n')}`,
  'Other:\n  -h, --help\n        Print this text; after a role, its flags.\n  --version\n        Print the version.',
].join('\n\n');
