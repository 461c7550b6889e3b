import { paintFor } from '../output/colour.ts';
import { printDocument } from '../output/print.ts';
import { facts, table } from '../output/table.ts';
import { changeFacts, changeWorkloadColumns, moreText } from '../views/changes.ts';
import { oneOutput, running, type Adder } from './command.ts';
import { onlyWord } from './list-options.ts';

export const addChange: Adder = (program, host) => {
  program
    .command('change')
    .argument('<id>', 'as `changes` lists it')
    .summary('one change, with what became of every workload')
    .description(
      'Shows one change: the source, since when, and what became of every workload that it concerned.',
    )
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
      }),
    );
};
