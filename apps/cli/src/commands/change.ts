import type { Waves } from '@reroll/shared/api/waves';
import type { SourceRef } from '../args/object-ref.ts';
import { CliError } from '../errors.ts';
import { paintFor } from '../output/color.ts';
import { printDocument } from '../output/print.ts';
import { safeText } from '../output/safe-text.ts';
import { facts, table } from '../output/table.ts';
import type { Session } from '../session.ts';
import { changeFacts, changeWorkloadColumns, moreText } from '../views/changes.ts';
import { waveColumns, waveRemarks, wavesInOrder } from '../views/waves.ts';
import { oneOutput, running, type Adder } from './command.ts';
import { onlyWord } from './list-options.ts';

/** How far the change has come, while the source has its data. Nothing without waves. */
async function printWaves(session: Session, source: SourceRef, hash: string | null): Promise<void> {
  const { io } = session;
  let waves: Waves;
  try {
    waves = await (await session.admin()).call('getWaves', { params: source });
  } catch (error) {
    // The change itself was told. A source that is not known any more has no waves.
    if (!(error instanceof CliError)) throw error;
    if (error.status !== 404) io.err(`How its waves proceed is not known: ${error.message}\n`);
    return;
  }
  if (waves.hash !== hash) return;
  const paint = paintFor(io, io.outIsTerminal);
  const planned = wavesInOrder(waves);
  if (planned.length > 0) io.out(`\n${table(waveColumns(io.now()), planned, { paint })}`);
  for (const remark of waveRemarks(waves)) io.out(`${safeText(remark)}\n`);
}

export const addChange: Adder = (program, host) => {
  program
    .command('change')
    .argument('<id>', 'id from `changes`')
    .summary('one change, and its outcome for every workload')
    .description('Shows one change: its source, its time, and its outcome for every workload.')
    .addOption(oneOutput())
    .action(
      running(host, async ({ session, io, words, options }) => {
        const id = onlyWord(words, 'the id of a change');
        const change = await (await session.admin()).call('getChange', { params: { id } });
        if (printDocument(io, options.output, change)) return;
        const paint = paintFor(io, io.outIsTerminal);
        const now = io.now();
        io.out(facts(changeFacts(change, now), paint));
        const more = moreText(change);
        if (change.workloads.length === 0) return io.out('\nIt concerned no workload that you may see.\n');
        io.out(`\n${table(changeWorkloadColumns(now), change.workloads, { paint })}`);
        if (more !== '') io.out(`${more}\n`);
        if (change.source) await printWaves(session, change.source, change.to);
      }),
    );
};
