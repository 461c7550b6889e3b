import { RELOAD_STATES } from '@reroll/core/history/states';
import { CHANGE_CAUSES } from '@reroll/core/history/entries';
import { jobState, QUEUE_NAMES } from '@reroll/shared/api/queues';
import type { Command, Option } from 'commander';
import { SOURCE_WORDS, WORKLOAD_WORDS } from '../args/kinds.ts';
import { BULK_ACTIONS } from '../commands/bulk.ts';
import { DUE, ROLLOUTS } from '../commands/workloads.ts';
import type { Globals } from '../connect/globals.ts';
import { contextNames } from '../connect/kubeconfig.ts';
import type { Io } from '../io.ts';
import { Session } from '../session.ts';
import { namesOf, type NamesWanted } from './names.ts';
import { SHELLS } from './scripts.ts';

/** Directives of cobra, for kubectl: no files, and no space after a slash. */
const NO_FILES = 4;
const NO_SPACE = 2;

/** Text that a shell takes without quotes. */
const SAFE = /^[\w.:/@=%+-]+$/;

/** Prints the last word's completions, one a line, then cobra's directive. Never fails, but may print none. */
export async function complete(program: Command, words: readonly string[], io: Io): Promise<void> {
  const found = await candidates(program, words, io).catch(() => []);
  const current = words.at(-1) ?? '';
  const shown = found.filter((word) => word.startsWith(current) && SAFE.test(word));
  const directive = NO_FILES | (shown.some((word) => word.endsWith('/')) ? NO_SPACE : 0);
  io.out(`${[...shown, `:${directive}`].join('\n')}\n`);
}

async function candidates(program: Command, words: readonly string[], io: Io): Promise<readonly string[]> {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const command = commandOf(program, before);
  const options = [...(command?.options ?? []), ...program.options];
  const valued = optionBefore(options, before.at(-1));
  // A flag without its value does not count yet.
  const globals = globalsOf(program, valued === undefined ? before : before.slice(0, -1));
  if (valued !== undefined) return await valuesOf(valued, { current, globals, io });
  if (current.startsWith('-')) return options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : []));
  if (command === undefined) return program.commands.map((each) => each.name());
  return await argumentsOf(command.name(), { current, globals, io });
}

function globalsOf(program: Command, words: readonly string[]): Globals {
  program.parseOptions([...words]);
  return { ...program.opts<Globals>(), requestTimeout: '3s' };
}

/** The first word that is neither a flag nor a flag's value. */
function commandOf(program: Command, words: readonly string[]): Command | undefined {
  const name = words.find((word, index) => {
    return !word.startsWith('-') && optionBefore(program.options, words[index - 1]) === undefined;
  });
  return program.commands.find((command) => command.name() === name);
}

/** The option that the word names, if its value comes next. */
function optionBefore(options: readonly Option[], word: string | undefined): Option | undefined {
  if (word === undefined || !word.startsWith('-')) return undefined;
  return options.find((option) => (option.long === word || option.short === word) && option.required);
}

interface Place {
  readonly current: string;
  readonly globals: Globals;
  readonly io: Io;
}

const WORDS_OF_OPTION: Readonly<Record<string, readonly string[]>> = {
  '--state': [...RELOAD_STATES, ...jobState.options],
  '--cause': CHANGE_CAUSES,
  '--queue': QUEUE_NAMES,
  '--due': DUE,
  '--rollout': ROLLOUTS,
};

async function valuesOf(option: Option, place: Place): Promise<readonly string[]> {
  if (option.argChoices !== undefined) return option.argChoices;
  const long = option.long ?? '';
  if (long === '--context') return contextNames(place.globals, place.io.env);
  if (long === '--namespace') return await asked('namespaces', place);
  if (long === '--source') return await objects(['sources'], place);
  if (long === '--workload') return await objects(['workloads'], place);
  return WORDS_OF_OPTION[long] ?? [];
}

const ARGUMENTS: Readonly<Record<string, (place: Place) => Promise<readonly string[]>>> = {
  why: (place) => objects(['workloads'], place),
  'why-not': (place) => objects(['workloads'], place),
  reload: (place) => objects(['workloads'], place),
  freeze: (place) => objects(['workloads'], place),
  unfreeze: (place) => objects(['workloads'], place),
  approve: (place) => objects(['workloads'], place),
  workloads: (place) => objects(['workloads'], place),
  sources: (place) => objects(['sources'], place),
  preview: (place) => objects(['sources', 'workloads'], place),
  wait: (place) => objects(['sources'], place),
  bulk: () => Promise.resolve(BULK_ACTIONS),
  change: (place) => asked('changes', place),
  retry: (place) => asked('jobs', place),
  pause: () => Promise.resolve(QUEUE_NAMES),
  resume: async (place) => [...QUEUE_NAMES, ...(await objects(['sources'], place))],
  completion: () => Promise.resolve(SHELLS),
};

async function argumentsOf(command: string, place: Place): Promise<readonly string[]> {
  return (await ARGUMENTS[command]?.(place)) ?? [];
}

const KIND_WORDS = { workloads: WORKLOAD_WORDS, sources: SOURCE_WORDS } as const;

/** Completes a kind and a slash, then the names of that kind. */
async function objects(
  sorts: readonly (keyof typeof KIND_WORDS)[],
  place: Place,
): Promise<readonly string[]> {
  if (!place.current.includes('/'))
    return sorts.flatMap((sort) => KIND_WORDS[sort]).map((word) => `${word}/`);
  const lists = await Promise.all(sorts.map((sort) => asked(sort, place)));
  return lists.flat();
}

async function asked(wanted: NamesWanted, { current, globals, io }: Place): Promise<readonly string[]> {
  const session = new Session(io, globals);
  try {
    return await namesOf(session, wanted, current);
  } finally {
    await session.close();
  }
}
