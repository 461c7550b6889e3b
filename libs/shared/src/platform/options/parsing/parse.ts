/** Parses command line and environment into the options of an app, or a list of everything that is wrong. */
import { readArguments, shown } from './arguments.ts';
import { parseCsv } from './csv.ts';
import type { AnyOption, App } from './option.ts';
import { brokenRules } from '../groups/rules.ts';
import { OPTION_LIST } from './table.ts';
import type { OptionsOf } from './table.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type ParsedOptions<A extends App> =
  | { readonly ok: true; readonly options: OptionsOf<A> }
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

/** Whether to read the option. A flag of stakater/Reloader that this app does not use is checked and then dropped. */
function isWanted(spec: AnyOption, app: App, flags: Values): boolean {
  return spec.apps.includes(app) || (spec.incumbent === true && flags.has(spec.flag));
}

function isOfAnother(spec: AnyOption, app: App, flags: Values): boolean {
  return !spec.apps.includes(app) && spec.incumbent !== true && flags.has(spec.flag);
}

const FORMS = OPTION_LIST.flatMap(([, { flag, form, aliases = [] }]) =>
  [flag, ...aliases].map((spelling) => ({ flag: spelling, takesValue: form !== 'bool', aliasOf: flag })),
);

/**
 * Parses the options of `app`. `argv` excludes the program's name. Reads nothing but its arguments, except for defaults
 * that depend on the machine.
 */
export function parseOptions<A extends App>(
  app: A,
  argv: readonly string[],
  env: Environment,
): ParsedOptions<A> {
  const { given, help, version, errors: malformed } = readArguments(argv, FORMS);
  if (help) return { ok: false, errors: [], asked: 'help' };
  if (version) return { ok: false, errors: [], asked: 'version' };
  const errors = [...malformed];
  const options: Record<string, unknown> = {};
  for (const [name, spec] of OPTION_LIST) {
    if (isOfAnother(spec, app, given))
      errors.push(`${spec.flag}: expected a flag of the ${app}; given one of the ${spec.apps.join()} only`);
    if (!isWanted(spec, app, given)) continue;
    const result = read(spec, writtenFor(spec, given, env));
    if (!result.ok) errors.push(result.error);
    else if (spec.apps.includes(app)) options[name] = result.value;
  }
  errors.push(...brokenRules(options));
  return errors.length > 0 ? { ok: false, errors } : { ok: true, options: options as OptionsOf<A> };
}
