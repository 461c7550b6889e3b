/** The only place that reads `process.argv` and `process.env`. */
import { VERSION } from '../../process/version.ts';
import { helpText } from './help.ts';
import type { Program } from './option.ts';
import { parseOptions } from './parse.ts';
import type { Environment } from './parse.ts';
import type { OptionsOf } from './table.ts';

/** The exit code for a wrong command line. */
const USAGE_ERROR = 2;

export type LoadedOptions<P extends Program> =
  | { readonly ok: true; readonly options: OptionsOf<P> }
  | { readonly ok: false; readonly exitCode: number };

/** The part of `process` that is used; specs pass their own. */
export interface Surroundings {
  /** As in Node: the program's path and the script's come first. */
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  exitCode?: number | string | null | undefined;
}

/**
 * Loads the options of this process. If there are none to run with (wrong ones, `--help`, `--version`), it has printed
 * the reason and set `process.exitCode`, and the caller returns.
 */
export function loadOptions<P extends Program>(
  program: P,
  surroundings: Surroundings = process,
): LoadedOptions<P> {
  const { argv, env, stdout, stderr } = surroundings;
  const parsed = parseOptions(program, argv.slice(2), env);
  if (parsed.ok) return parsed;
  if (parsed.asked === 'help') stdout.write(`${helpText(program)}\n`);
  else if (parsed.asked === 'version') stdout.write(`reroll-${program} ${VERSION}\n`);
  else stderr.write(`${parsed.errors.join('\n')}\nRun with --help for the list of options.\n`);
  const exitCode = parsed.asked === undefined ? USAGE_ERROR : 0;
  surroundings.exitCode = exitCode;
  return { ok: false, exitCode };
}
