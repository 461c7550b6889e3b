import { Command, Option } from 'commander';
import type { Globals } from '../connect/globals.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import type { Io } from '../io.ts';
import { LIST_OUTPUTS, ONE_OUTPUTS, WIDE_OUTPUTS, type Output } from '../output/print.ts';
import { Session } from '../session.ts';

export interface Host {
  readonly io: Io;
  /** Called with the exit code of the command that ran. */
  readonly finish: (code: ExitCode) => void;
}

type CommonOptions = Globals & { readonly output?: Output };

export interface Call<Options = unknown> {
  readonly session: Session;
  readonly io: Io;
  /** Only the options that were given. */
  readonly words: readonly string[];
  readonly options: Options & CommonOptions;
}

export type Adder = (program: Command, host: Host) => void;

/** An action for commander that opens a session, runs, and closes what the session opened. */
export function running<Options = unknown>(
  host: Host,
  run: (call: Call<Options>) => Promise<ExitCode | void>,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1) as Command;
    const options = command.optsWithGlobals<Options & CommonOptions>();
    const session = new Session(host.io, options);
    try {
      const code = await run({ session, io: host.io, words: command.args, options });
      host.finish(code ?? EXIT.done);
    } finally {
      await session.close();
    }
  };
}

export function listOutput(): Option {
  return new Option('-o, --output <format>', 'output format').choices(LIST_OUTPUTS);
}

export function oneOutput(): Option {
  return new Option('-o, --output <format>', 'output format').choices(ONE_OUTPUTS);
}

/** Of one object, with more to show. */
export function wideOutput(): Option {
  return new Option('-o, --output <format>', 'output format').choices(WIDE_OUTPUTS);
}

export function limitOption(initial: string): Option {
  return new Option('--limit <number>', 'maximum number; 0: all').default(initial);
}

export function reasonOption(): Option {
  return new Option('--reason <text>', 'reason, for the history and the audit log').makeOptionMandatory();
}
