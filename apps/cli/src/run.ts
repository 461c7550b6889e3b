import { KubeError } from '@reroll/kube/client/errors';
import { CommanderError } from 'commander';
import { complete } from './completion/complete.ts';
import { CliError, EXIT, usageError, type ExitCode } from './errors.ts';
import type { Io } from './io.ts';
import { printError } from './output/print.ts';
import { safeIo } from './output/safe-io.ts';
import { buildProgram } from './program.ts';

/** The name under which kubectl looks for a plugin's completion. */
const KUBECTL_COMPLETION = 'kubectl_complete-reroll';
/** The command that shells' completion calls, with the words after the program's name. */
const COMPLETE = '__complete';

/** Runs the program once. Resolves to the exit code; never rejects. */
export async function run(file: string, words: readonly string[], terminal: Io): Promise<ExitCode> {
  const io = safeIo(terminal);
  let code: ExitCode = EXIT.done;
  const name = file.includes('kubectl-reroll') ? 'kubectl reroll' : 'reroll';
  const host = { io, finish: (exit: ExitCode) => (code = exit) };
  try {
    const program = buildProgram(name, host);
    if (file.includes(KUBECTL_COMPLETION)) await complete(program, words, io);
    else if (words[0] === COMPLETE) await complete(program, words.slice(1), io);
    else await program.parseAsync([...words], { from: 'user' });
    return code;
  } catch (error) {
    return io.signal.aborted ? EXIT.interrupted : failed(error, io);
  }
}

function failed(error: unknown, io: Io): ExitCode {
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done;
  const told = cliError(error);
  printError(io, told);
  return told.exit;
}

function cliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof CommanderError) {
    // Commander has already printed the help if the error says only that.
    const message = error.message.replace(/^error: /, '').replace(/^\(outputHelp\)$/, 'expected a command');
    // Commander's own advice comes on a line of its own.
    const [first = '', ...advice] = message.split('\n');
    const lists = error.code === 'commander.unknownCommand' ? ['--help lists the commands'] : [];
    return usageError(first, ...advice, ...lists);
  }
  if (error instanceof KubeError) return new CliError(error.message, { hints: kubeHints(error) });
  return new CliError(
    `this is a mistake of the program: ${error instanceof Error ? error.message : String(error)}`,
  );
}

function kubeHints({ status, code }: KubeError): readonly string[] {
  if (status === 401) return ['the API server does not know the user of this context'];
  if (status === 403) return ['you may not do this in the cluster; `kubectl auth can-i` tells what you may'];
  return code === 'KUBE_NETWORK' ? ['is the context the right one? --context chooses another'] : [];
}
