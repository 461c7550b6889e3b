import { parseArgs } from 'node:util';
import { UsageError, messageOf } from '../../cluster/src/errors.ts';
import type { Subject } from './reloader.ts';
import {
  loadProblems,
  type Scenario,
  SCENARIO_NAMES,
  SCENARIOS,
  type ScenarioName,
  withOverrides,
} from './scenarios.ts';

export interface BenchOptions {
  /** With the numbers that were given, in the order in which they run. */
  readonly scenarios: readonly Scenario[];
  readonly repeat: number;
  readonly subject: Subject;
  readonly json: string | undefined;
  readonly markdown: string | undefined;
}

export type Command = { readonly help: true } | { readonly help: false; readonly options: BenchOptions };

/** What is measured unless another reloader is named. */
export const REROLL = { watchers: 1, workers: 2, concurrency: 10, debounce: '0' };

/** Whole numbers from 1, and the largest that each may be. */
const NUMBERS = { workloads: 1_000_000, namespaces: 10_000, changes: 1_000_000, repeat: 100 } as const;
const TEXTS = ['scenario', 'reloader', 'json', 'markdown'] as const;

type NumberFlag = keyof typeof NUMBERS;
type TextFlag = (typeof TEXTS)[number];
type Values = Partial<Record<NumberFlag | TextFlag, string>> & { help?: boolean };

const FLAGS = {
  ...Object.fromEntries([...Object.keys(NUMBERS), ...TEXTS].map((name) => [name, { type: 'string' }])),
  help: { type: 'boolean', short: 'h' },
} as Record<string, { type: 'string' | 'boolean'; short?: string }>;

/** Reads values one by one and keeps every problem. */
class Reader {
  readonly #values: Values;
  readonly problems: string[] = [];

  constructor(values: Values) {
    this.#values = values;
  }

  number(name: NumberFlag): number | undefined {
    const text = this.#values[name];
    if (text === undefined) return undefined;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= 1 && value <= NUMBERS[name]) return value;
    return this.#refuse(name, `a whole number from 1 to ${NUMBERS[name]}`);
  }

  /** A text that means something to `read`, which returns undefined otherwise. */
  text<T>(name: TextFlag, form: string, read: (text: string) => T | undefined): T | undefined {
    const text = this.#values[name];
    if (text === undefined) return undefined;
    return read(text) ?? this.#refuse(name, form);
  }

  #refuse(name: NumberFlag | TextFlag, form: string): undefined {
    this.problems.push(`expected --${name} to be ${form}, given '${this.#values[name] ?? ''}'`);
    return undefined;
  }
}

/** @throws UsageError with every problem, as what was expected and what was given. */
export function parseCommand(argv: readonly string[]): Command {
  const values = parse(argv);
  if (values.help === true) return { help: true };
  const reader = new Reader(values);
  const options = optionsOf(reader);
  const problems = [...reader.problems, ...options.scenarios.flatMap(loadProblems)];
  if (problems.length > 0) throw new UsageError(problems);
  return { help: false, options };
}

function parse(argv: readonly string[]): Values {
  try {
    return parseArgs({ args: [...argv], options: FLAGS, strict: true }).values;
  } catch (error) {
    throw new UsageError([messageOf(error)]);
  }
}

function optionsOf(reader: Reader): BenchOptions {
  const overrides = {
    workloads: reader.number('workloads'),
    namespaces: reader.number('namespaces'),
    changes: reader.number('changes'),
  };
  const form = `all, or some of ${SCENARIO_NAMES.join(', ')}, separated by commas`;
  const names = reader.text('scenario', form, scenarioNames) ?? ['hundred'];
  const commandLine = reader.text('reloader', 'a command line', notEmpty);
  return {
    scenarios: names.map((name) => withOverrides(SCENARIOS[name], overrides)),
    repeat: reader.number('repeat') ?? 1,
    subject: commandLine === undefined ? { reroll: REROLL } : { commandLine },
    json: reader.text('json', 'a file', notEmpty),
    markdown: reader.text('markdown', 'a file', notEmpty),
  };
}

/** In the order of the table, each once: those that share a cluster come one after the other. */
function scenarioNames(text: string): ScenarioName[] | undefined {
  if (text === 'all') return [...SCENARIO_NAMES];
  const given = text.split(',');
  const known: readonly string[] = SCENARIO_NAMES;
  if (!given.every((name) => known.includes(name))) return undefined;
  return SCENARIO_NAMES.filter((name) => given.includes(name));
}

function notEmpty(text: string): string | undefined {
  return text.trim() === '' ? undefined : text;
}
