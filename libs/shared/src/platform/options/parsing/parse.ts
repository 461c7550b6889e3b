/** Parses command line and environment into the options of a program, or a list of everything that is wrong. */
import { readArguments, shown } from './arguments.ts';
import { parseCsv } from './csv.ts';
import { isOptionOf, programsOf, type AnyOption, type Program } from './option.ts';
import { brokenRules } from '../groups/rules.ts';
import { OPTION_LIST } from './table.ts';
import type { OptionsOf } from './table.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type ParsedOptions<P extends Program> =
  | { readonly ok: true; readonly options: OptionsOf<P> }
  | {
      readonly ok: false;
      /** Every error, one a line, with the flag, what was expected and what was given. */
      readonly errors: readonly string[];
      /** `--help` or `--version` was given: nothing else was read, and there are no errors. */
      readonly asked?: 'help' | 'version';
    };

/** The text given for an option, and where. */
interface Written {
  readonly values: readonly string[];
  readonly where: string;
}

type Values = ReadonlyMap<string, readonly string[]>;

/** A flag wins over the environment, which wins over the default. An empty environment variable counts as unset. */
function writtenFor(spec: AnyOption, flags: Values, env: Environment): Written {
  const values = flags.get(spec.flag);
  if (values !== undefined) return { values, where: '' };
  const fromEnv = env[spec.env];
  if (fromEnv !== undefined && fromEnv !== '') return { values: [fromEnv], where: ` (from ${spec.env})` };
  const found = typeof spec.default === 'string' ? spec.default : spec.default.find();
  return { values: [found], where: ' (the default)' };
}

/** The text, or a list's elements, that the schema reads; undefined if a list's quotes do not match. */
function inputOf(spec: AnyOption, values: readonly string[]): unknown {
  if (spec.form !== 'list') return values.at(-1);
  const lines = values.map(parseCsv);
  return lines.includes(undefined) ? undefined : lines.flatMap((line) => line ?? []);
}

type Read = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string };

function read(spec: AnyOption, { values, where }: Written): Read {
  const result = spec.schema.safeParse(inputOf(spec, values));
  if (result.success) return { ok: true, value: result.data };
  const given = spec.sensitive === true ? 'a value that is not shown' : values.map(shown).join(', ');
  return { ok: false, error: `${spec.flag}: expected ${spec.expects}; given ${given}${where}` };
}

/** Whether to read the option. A flag of stakater/Reloader that this program does not use is checked and then dropped. */
function isWanted(spec: AnyOption, program: Program, flags: Values): boolean {
  return isOptionOf(spec, program) || (spec.incumbent === true && flags.has(spec.flag));
}

function isOfAnother(spec: AnyOption, program: Program, flags: Values): boolean {
  return !isOptionOf(spec, program) && spec.incumbent !== true && flags.has(spec.flag);
}

const FORMS = OPTION_LIST.flatMap(([, { flag, form, aliases = [] }]) =>
  [flag, ...aliases].map((spelling) => ({ flag: spelling, takesValue: form !== 'bool', aliasOf: flag })),
);

/**
 * Parses the options of `program`. `argv` excludes the program's name. Reads nothing but its arguments, except for defaults
 * that depend on the machine.
 */
export function parseOptions<P extends Program>(
  program: P,
  argv: readonly string[],
  env: Environment,
): ParsedOptions<P> {
  const { given, help, version, errors: malformed } = readArguments(argv, FORMS);
  if (help) return { ok: false, errors: [], asked: 'help' };
  if (version) return { ok: false, errors: [], asked: 'version' };
  const errors = [...malformed];
  const options: Record<string, unknown> = {};
  for (const [name, spec] of OPTION_LIST) {
    if (isOfAnother(spec, program, given))
      errors.push(
        `${spec.flag}: expected a flag of the ${program}; given one of the ${programsOf(spec).join()} only`,
      );
    if (!isWanted(spec, program, given)) continue;
    const result = read(spec, writtenFor(spec, given, env));
    if (!result.ok) errors.push(result.error);
    else if (isOptionOf(spec, program)) options[name] = result.value;
  }
  errors.push(...brokenRules(options));
  return errors.length > 0 ? { ok: false, errors } : { ok: true, options: options as OptionsOf<P> };
}
