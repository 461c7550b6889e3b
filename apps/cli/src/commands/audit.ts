import { listed } from '../api/pages.ts';
import { ifGiven, sinceArgument } from '../args/values.ts';
import { printList } from '../output/print.ts';
import { auditView } from '../views/queues.ts';
import { limitOption, listOutput, running, type Adder } from './command.ts';
import { limitOf, requireNoNamespace } from './list-options.ts';

interface AuditOptions {
  readonly actor?: string;
  readonly since?: string;
  readonly limit: string;
}

export const addAudit: Adder = (program, host) => {
  program
    .command('audit')
    .summary('who did what through the admin, and why')
    .description(
      'Lists who did what through the admin, and why, in all namespaces, newest first, including refused requests.',
    )
    .addOption(listOutput())
    .option('--actor <name>', 'only by this user')
    .option('--since <time>', 'only since this time: RFC 3339, or how long ago (1h)')
    .addOption(limitOption('50'))
    .action(
      running<AuditOptions>(host, async ({ session, io, options }) => {
        requireNoNamespace(session, 'the entries of all namespaces are listed');
        const since = ifGiven(options.since, (text) => sinceArgument('--since', text, io.now()));
        const query = { actor: options.actor, since };
        const limit = limitOf(options.limit);
        const { items, more } = await listed(await session.admin(), 'listAudit', { query, limit });
        printList(io, options.output, { items, more, noun: 'entries', view: auditView(io.now()) });
      }),
    );
};
