import { parseArgs } from 'node:util';
import { UsageError, messageOf } from '../../cluster/src/errors.ts';
import { KINDS, type Kind } from './kinds.ts';
import type { Subject } from './reloader.ts';
import {
  type LoadOverrides,
  loadProblems,
  type Scenario,
  SCENARIO_NAMES,
  SCENARIOS,
  type ScenarioName,
  type SecretLoad,
  withOverrides,
} from './scenarios.ts';

export interface BenchOptions {
  /** With the numbers that were given, in the order in which they run. */
  readonly scenarios: readonly Scenario[];
  readonly kind: Kind;
  readonly replicas: number;
  readonly workers: number;
  /** Of one worker. */
  readonly concurrency: number;
  readonly repeat: number;
  readonly subject: Subject;
  readonly keep: boolean;
  readonly json: string | undefined;
  readonly markdown: string | undefined;
}

export type Command = { readonly help: true } | { readonly help: false; readonly options: BenchOptions };

const STRINGS = [
  'scenario',
  'kind',
  'controller-manager',
  'secrets',
  'debounce',
  'reloader',
  'json',
  'markdown',
] as const;

interface Range {
  readonly min: number;
  readonly max: number;
}

/** Whole numbers and what they may be. */
const NUMBERS = {
  workloads: { min: 1, max: 1_000_000 },
  namespaces: { min: 1, max: 10_000 },
  changes: { min: 1, max: 1_000_000 },
  rate: { min: 1, max: 100_000 },
  sharing: { min: 1, max: 100_000 },
  replicas: { min: 0, max: 1 },
  workers: { min: 1, max: 64 },
  watchers: { min: 1, max: 16 },
  concurrency: { min: 1, max: 1000 },
  repeat: { min: 1, max: 100 },
} as const satisfies Record<string, Range>;

type NumberFlag = keyof typeof NUMBERS;
type StringFlag = (typeof STRINGS)[number];
type Values = Partial<Record<NumberFlag | StringFlag, string>> & { keep?: boolean; help?: boolean };

const FLAGS = {
  ...Object.fromEntries([...Object.keys(NUMBERS), ...STRINGS].map((name) => [name, { type: 'string' }])),
  keep: { type: 'boolean' },
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
    const { min, max } = NUMBERS[name];
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    return this.#refuse(name, `a whole number from ${min} to ${max}`);
  }

  /** A text that means something to `read`, which returns undefined otherwise. */
  text<T>(name: StringFlag, form: string, read: (text: string) => T | undefined): T | undefined {
    const text = this.#values[name];
    if (text === undefined) return undefined;
    return read(text) ?? this.#refuse(name, form);
  }

  #refuse(name: NumberFlag | StringFlag, form: string): undefined {
    this.problems.push(`expected --${name} to be ${form}, given '${this.#values[name] ?? ''}'`);
    return undefined;
  }
}

/** @throws UsageError with every problem, as what was expected and what was given. */
export function parseCommand(argv: readonly string[]): Command {
  const values = parse(argv);
  if (values.help === true) return { help: true };
  const reader = new Reader(values);
  const options = optionsOf(reader, values);
  const problems = [...reader.problems, ...options.scenarios.flatMap(loadProblems), ...podProblems(options)];
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

function optionsOf(reader: Reader, values: Values): BenchOptions {
  const overrides = overridesOf(reader);
  const names = reader.text(
    'scenario',
    `all, or some of ${SCENARIO_NAMES.join(', ')}, separated by commas`,
    scenarioNames,
  );
  const kind = reader.text('kind', `one of ${Object.keys(KINDS).join(', ')}`, (text) =>
    text in KINDS ? (text as Kind) : undefined,
  );
  const controllerManager = reader.text('controller-manager', 'on or off', (text) => SWITCH[text]);
  const [workers, concurrency] = [reader.number('workers') ?? 2, reader.number('concurrency') ?? 10];
  return {
    scenarios: (names ?? ['hundred']).map((name) => ({
      ...withOverrides(SCENARIOS[name], overrides),
      controllerManager: controllerManager ?? SCENARIOS[name].controllerManager,
    })),
    kind: kind ?? 'Deployment',
    replicas: reader.number('replicas') ?? 0,
    workers,
    concurrency,
    repeat: reader.number('repeat') ?? 1,
    subject: subjectOf(reader, { workers, concurrency }),
    keep: values.keep === true,
    json: reader.text('json', 'a file', fileName),
    markdown: reader.text('markdown', 'a file', fileName),
  };
}

function podProblems({ replicas, scenarios }: BenchOptions): string[] {
  const without = scenarios.filter(({ controllerManager }) => !controllerManager).map(({ name }) => name);
  if (replicas === 0 || without.length === 0) return [];
  return [
    `expected --replicas to be 0 where no controller makes pods (${without.join(', ')}), given ${replicas}`,
  ];
}

function overridesOf(reader: Reader): LoadOverrides {
  return {
    workloads: reader.number('workloads'),
    namespaces: reader.number('namespaces'),
    sharing: reader.number('sharing'),
    changes: reader.number('changes'),
    rate: reader.number('rate'),
    secrets: reader.text('secrets', 'COUNTxSIZE such as 3000x50KB', secretLoad),
  };
}

function subjectOf(reader: Reader, options: { workers: number; concurrency: number }): Subject {
  const watchers = reader.number('watchers') ?? 1;
  const debounce = reader.text('debounce', 'a duration such as 0 or 500ms', duration) ?? '0';
  const commandLine = reader.text('reloader', 'a command line', fileName);
  return commandLine === undefined ? { reroll: { ...options, watchers, debounce } } : { commandLine };
}

/** In the order of the table, each once: those that share a cluster come one after the other. */
function scenarioNames(text: string): ScenarioName[] | undefined {
  if (text === 'all') return [...SCENARIO_NAMES];
  const given = text.split(',');
  const known: readonly string[] = SCENARIO_NAMES;
  if (!given.every((name) => known.includes(name))) return undefined;
  return SCENARIO_NAMES.filter((name) => given.includes(name));
}

const SWITCH: Readonly<Record<string, boolean>> = { on: true, off: false };

const UNITS: Readonly<Record<string, number>> = { '': 1, B: 1, KB: 1000, KiB: 1024, MB: 1_000_000 };
/** etcd takes no larger object. */
const MAX_SECRET = 1_000_000;

function secretLoad(text: string): SecretLoad | undefined {
  const [, count = '', size = '', unit = ''] = /^(\d{1,6})x(\d{1,7})(B|KB|KiB|MB)?$/.exec(text) ?? [];
  if (count === '') return undefined;
  const bytes = Number(size) * (UNITS[unit] ?? 1);
  return bytes > MAX_SECRET || bytes === 0 || Number(count) === 0
    ? undefined
    : { count: Number(count), bytes };
}

function duration(text: string): string | undefined {
  return /^(0|(\d+(\.\d+)?(ms|s|m|h))+)$/.test(text) ? text : undefined;
}

function fileName(text: string): string | undefined {
  return text.trim() === '' ? undefined : text;
}
