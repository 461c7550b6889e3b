import type { Workload } from '@reroll/shared/api/workloads';
import { Option } from 'commander';
import { listed } from '../api/pages.ts';
import { workloadRef } from '../args/object-ref.ts';
import { workloadKindOf, WORKLOAD_WORDS } from '../args/kinds.ts';
import { ifGiven, notOneOf, wordArgument } from '../args/values.ts';
import { paintFor } from '../output/color.ts';
import { printList, printNamed, type Output } from '../output/print.ts';
import { facts, table } from '../output/table.ts';
import type { Session } from '../session.ts';
import { fullName } from '../views/names.ts';
import {
  DEPENDENCIES_OF_WORKLOAD,
  historyColumns,
  workloadFacts,
  workloadsView,
} from '../views/workloads.ts';
import { limitOption, listOutput, running, type Adder, type Call } from './command.ts';
import { limitOf, NO_LIMIT, nounIn, requireNoFilters } from './list-options.ts';

interface WorkloadsOptions {
  readonly kind?: string;
  readonly name?: string;
  readonly due?: string;
  readonly rollout?: string;
  readonly limit: string;
}

export const DUE = ['owed', 'correct', 'stale', 'failed'] as const;
export const dueOption = (): Option =>
  new Option(
    '--due <due>',
    'only with a pending reload (`owed`), with a pending correction of the applied record (`correct`), recorded as StaleAtAdoption, with no sign since that its pods were replaced (`stale`), or with a failed last attempt at a pending reload, a correction or a manual reload (`failed`)',
  );
export const ROLLOUTS = ['progressing', 'complete', 'stuck'] as const;

export const addWorkloads: Adder = (program, host) => {
  program
    .command('workloads')
    .argument('[workload]', 'only this one, in detail, e.g. deploy/web')
    .argument('[name]', 'its name, unless given with the kind')
    .summary('all workloads, or one in detail')
    .description(
      'Lists the workloads that Reroll knows, or shows one: its sources, what is pending, and its history.',
    )
    .addOption(listOutput())
    .option('--kind <kind>', `only of this kind: ${WORKLOAD_WORDS.join(', ')}`)
    .option('--name <part>', 'only names that contain this')
    .addOption(dueOption())
    .option('--rollout <state>', `only with a rollout in this state: ${ROLLOUTS.join(', ')}`)
    .addOption(limitOption(NO_LIMIT))
    .action(
      running<WorkloadsOptions>(host, async (call) => {
        if (call.words.length === 0) return await listWorkloads(call);
        requireNoFilters(call.options, ['kind', 'name', 'due', 'rollout']);
        return await printWorkload(call.session, call.words, call.options.output);
      }),
    );
};

async function listWorkloads({ session, io, options }: Call<WorkloadsOptions>): Promise<void> {
  const namespace = session.namespaceOfLists;
  const kind = ifGiven(options.kind, (text) => {
    const found = workloadKindOf(text);
    if (found === undefined) throw notOneOf('--kind', text, WORKLOAD_WORDS);
    return found;
  });
  const query = {
    namespace,
    kind,
    name: options.name,
    due: ifGiven(options.due, (text) => wordArgument('--due', text, DUE)),
    rollout: ifGiven(options.rollout, (text) => wordArgument('--rollout', text, ROLLOUTS)),
  };
  const limit = limitOf(options.limit);
  const { items, more } = await listed(await session.admin(), 'listWorkloads', { query, limit });
  const view = workloadsView({ now: io.now(), namespaces: namespace === undefined });
  printList(io, options.output, { items, more, noun: nounIn('workloads', namespace), view });
}

async function printWorkload(
  session: Session,
  words: readonly string[],
  output: Output | undefined,
): Promise<void> {
  const { io } = session;
  const params = workloadRef(words, session.namespaceOfObject);
  const workload = await (await session.admin()).call('getWorkload', { params });
  if (printNamed(io, output, { value: workload, name: fullName(workload) })) return;
  io.out(workloadText(session, workload, output === 'wide'));
}

function workloadText({ io }: Session, workload: Workload, wide: boolean): string {
  const paint = paintFor(io, io.outIsTerminal);
  const now = io.now();
  const parts = [facts(workloadFacts(workload, now), paint)];
  if (workload.sourcesInDetail.length > 0) {
    parts.push(table(DEPENDENCIES_OF_WORKLOAD, workload.sourcesInDetail, { paint, wide }));
  }
  if (workload.history.length > 0) {
    parts.push(table(historyColumns('workload', now), workload.history, { paint, wide }));
  }
  return parts.join('\n');
}
