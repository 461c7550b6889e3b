import { CHANGE_CAUSES } from '@reroll/core/history/entries';
import { RELOAD_STATES } from '@reroll/core/history/states';
import { keyOf } from '@reroll/core/model';
import { Option } from 'commander';
import { listed } from '../api/pages.ts';
import { sourceRef, workloadRef } from '../args/object-ref.ts';
import { ifGiven, sinceArgument, wordArgument } from '../args/values.ts';
import { EXIT, usageError, type ExitCode } from '../errors.ts';
import { printList } from '../output/print.ts';
import { changesView } from '../views/changes.ts';
import { limitOption, listOutput, running, type Adder, type Call } from './command.ts';
import { limitOf, nounIn } from './list-options.ts';
import { watchChanges, type ChangesQuery } from './watch-changes.ts';

interface ChangesOptions {
  readonly watch?: boolean;
  readonly watchOnly?: boolean;
  readonly source?: string;
  readonly workload?: string;
  readonly state?: string;
  readonly cause?: string;
  readonly since?: string;
  readonly limit: string;
}

export const addChanges: Adder = (program, host) => {
  program
    .command('changes')
    .summary('changes of ConfigMaps and Secrets, and their outcomes')
    .description(
      'Lists changes of ConfigMaps and Secrets, and manual reloads, newest first, with the number of workloads in each state. --watch then prints what happens until Ctrl-C, and resumes after a broken connection.',
    )
    .addOption(listOutput())
    .option('-w, --watch', 'then print what happens; with -o json one document per line')
    .option('--watch-only', 'print only what happens from now on')
    .option('--source <source>', 'only of this source, e.g. secret/db')
    .option('--workload <workload>', 'only if they concern this workload, e.g. deploy/web')
    .addOption(
      new Option('--state <state>', `only with a workload in this state: ${RELOAD_STATES.join(', ')}`),
    )
    .addOption(new Option('--cause <cause>', `only of this cause: ${CHANGE_CAUSES.join(', ')}`))
    .option('--since <time>', 'only since this time: RFC 3339, or how long ago (1h)')
    .addOption(limitOption('50'))
    .action(running<ChangesOptions>(host, runChanges));
};

async function runChanges(call: Call<ChangesOptions>): Promise<ExitCode> {
  const { session, io, options } = call;
  const query = queryOf(call);
  const limit = limitOf(options.limit);
  const { namespace } = query;
  if (options.watch === true || options.watchOnly === true) {
    if (options.output !== undefined && options.output !== 'json') {
      throw usageError(`expected -o json or none with --watch, given ${JSON.stringify(options.output)}`);
    }
    const isWatchOnly = options.watchOnly === true;
    return await watchChanges(session, { query, limit, isWatchOnly, asJson: options.output === 'json' });
  }
  const { items, more } = await listed(await session.admin(), 'listChanges', { query, limit });
  const view = changesView({ now: io.now(), namespaces: namespace === undefined });
  printList(io, options.output, { items, more, noun: nounIn('changes', namespace), view });
  return EXIT.done;
}

function queryOf({ session, io, options }: Call<ChangesOptions>): ChangesQuery {
  const { state, cause, since } = options;
  const source = ifGiven(options.source, (text) => sourceRef([text], session.namespace));
  const workload = ifGiven(options.workload, (text) => workloadRef([text], session.namespace));
  if (source !== undefined && workload !== undefined && source.namespace !== workload.namespace) {
    const given = `${source.namespace} and ${workload.namespace}`;
    throw usageError(`expected --source and --workload in the same namespace, given ${given}`);
  }
  return {
    // A source is used in its own namespace only.
    namespace: (source ?? workload)?.namespace ?? session.namespaceOfLists,
    source: ifGiven(source, keyOf),
    workload: ifGiven(workload, keyOf),
    state: ifGiven(state, (text) => wordArgument('--state', text, RELOAD_STATES)),
    cause: ifGiven(cause, (text) => wordArgument('--cause', text, CHANGE_CAUSES)),
    since: ifGiven(since, (text) => sinceArgument('--since', text, io.now())),
  };
}
