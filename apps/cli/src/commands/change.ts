import type { Change } from '@reroll/shared/api/changes';
import type { Waves } from '@reroll/shared/api/waves';
import { durationArgument } from '../args/values.ts';
import { CliError, EXIT, usageError, type ExitCode } from '../errors.ts';
import { paintFor } from '../output/color.ts';
import { printDocument } from '../output/print.ts';
import { facts, table } from '../output/table.ts';
import type { Session } from '../session.ts';
import { changeFacts, changeWorkloadColumns, moreText } from '../views/changes.ts';
import { wavesText } from '../views/waves.ts';
import { oneOutput, running, type Adder, type Call } from './command.ts';
import { followChange } from './follow-change.ts';
import { onlyWord, requireNamespace } from './list-options.ts';
import { wavesOf } from './waves-of.ts';

interface ChangeOptions {
  readonly watch?: boolean;
  readonly timeout?: string;
}

export const addChange: Adder = (program, host) => {
  program
    .command('change')
    .argument('<id>', 'id from `changes`')
    .summary('one change, and its outcome for every workload')
    .description(
      'Shows one change: its source, its time, and its outcome for every workload. --watch first shows its progress and its waves until every workload is rolled out or will not be, and then exits with 0, 3 after --timeout, or 4 if a listed one failed or is stuck.',
    )
    .addOption(oneOutput())
    .option('-w, --watch', 'show the progress until every workload is done')
    .option('--timeout <duration>', 'maximum time of --watch; default: no limit')
    .action(running<ChangeOptions>(host, runChange));
};

async function runChange(call: Call<ChangeOptions>): Promise<ExitCode> {
  const { session, io, words, options } = call;
  const id = onlyWord(words, 'the id of a change');
  let code: ExitCode = EXIT.done;
  if (options.watch === true) {
    const timeoutMs =
      options.timeout === undefined ? undefined : durationArgument('--timeout', options.timeout);
    code = await followed(session, id, timeoutMs);
    if (code === EXIT.interrupted) return code;
  } else if (options.timeout !== undefined) throw usageError('expected --watch with --timeout');
  const change = await readChange(session, id);
  if (!printDocument(io, options.output, change)) await printChange(session, change);
  return code;
}

/** @throws a `CliError` if there is no such change in the namespace of `-n` */
async function readChange(session: Session, id: string): Promise<Change> {
  const change = await (await session.admin()).call('getChange', { params: { id } });
  const { source, workloads } = change;
  requireNamespace(session, `change ${id}`, (source ?? workloads[0]?.workload)?.namespace);
  return change;
}

/** @throws a `CliError` at once if there is no such change */
async function followed(session: Session, id: string, timeoutMs: number | undefined): Promise<ExitCode> {
  await readChange(session, id);
  return followChange(session, { change: id, timeoutMs });
}

async function printChange(session: Session, change: Change): Promise<void> {
  const { io } = session;
  const paint = paintFor(io, io.outIsTerminal);
  const now = io.now();
  io.out(facts(changeFacts(change, now), paint));
  if (change.workloads.length === 0) return io.out('\nIt concerned no workload that you may see.\n');
  const waves = await knownWaves(session, change);
  io.out(`\n${table(changeWorkloadColumns(now, waves), change.workloads, { paint })}`);
  const more = moreText(change);
  if (more !== '') io.out(`${more}\n`);
  const text = waves === undefined ? '' : wavesText(waves, { now, paint });
  if (text !== '') io.out(`\n${text}`);
}

/** Undefined also if the admin cannot tell, which is told. */
async function knownWaves(session: Session, change: Change): Promise<Waves | undefined> {
  const { io } = session;
  try {
    return await wavesOf(await session.admin(), change);
  } catch (error) {
    // The change itself is told.
    if (!(error instanceof CliError)) throw error;
    io.err(`How its waves proceed is not known: ${error.message}\n`);
    return undefined;
  }
}
