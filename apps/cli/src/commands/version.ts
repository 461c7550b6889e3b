import { VERSION } from '@reroll/shared/platform/process/version';
import { printDocument } from '../output/print.ts';
import { safeText } from '../output/safe-text.ts';
import { oneOutput, running, type Adder } from './command.ts';

export const addVersion: Adder = (program, host) => {
  program
    .command('version')
    .summary('versions of this program and the admin')
    .description('Shows the versions of this program and the admin.')
    .option('--client', 'only this program')
    .addOption(oneOutput())
    .action(
      running<{ client?: boolean }>(host, async ({ session, io, options }) => {
        const server =
          options.client === true ? undefined : (await (await session.admin()).call('getStatus')).version;
        const versions = { client: VERSION, ...(server === undefined ? {} : { server }) };
        if (printDocument(io, options.output, versions)) return;
        io.out(`Client: ${VERSION}\n`);
        if (server !== undefined) io.out(`Server: ${safeText(server)}\n`);
      }),
    );
};
