import { paintFor } from '../output/color.ts';
import { printDocument } from '../output/print.ts';
import { safeText } from '../output/safe-text.ts';
import { facts, table } from '../output/table.ts';
import { processColumns, statusFacts } from '../views/status.ts';
import { oneOutput, running, type Adder } from './command.ts';

export const addStatus: Adder = (program, host) => {
  program
    .command('status')
    .summary('leader, workers, lag, pending workloads and warnings')
    .description(
      'Shows the leader and standbys of the installation, its workers, their lag, and warnings. --namespace has no effect.',
    )
    .addOption(oneOutput())
    .action(
      running(host, async ({ session, io, options }) => {
        const status = await (await session.admin()).call('getStatus');
        if (printDocument(io, options.output, status)) return;
        const paint = paintFor(io, io.outIsTerminal);
        const now = io.now();
        const warnings = status.warnings.map(
          (warning) => `${paint('warning:', 'waiting')} ${safeText(warning)}\n`,
        );
        io.out(facts(statusFacts(status, now), paint));
        io.out(`\n${table(processColumns(now), status.processes, { paint })}`);
        if (warnings.length > 0) io.out(`\n${warnings.join('')}`);
      }),
    );
};
