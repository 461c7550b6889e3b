import type { AnswerOf } from '../api/operation.ts';
import { sourceRef } from '../args/object-ref.ts';
import { SOURCE_WORDS, sourceKindOf, workloadKindOf, WORKLOAD_WORDS } from '../args/kinds.ts';
import { ifGiven, notOneOf, numberArgument, untilArgument, wordArgument } from '../args/values.ts';
import { EXIT, usageError, type ExitCode } from '../errors.ts';
import { printDocument, printList } from '../output/print.ts';
import type { Session } from '../session.ts';
import { BULK_VIEW } from '../views/bulk.ts';
import { listOutput, reasonOption, running, type Adder, type Call } from './command.ts';
import { nounIn, onlyWord } from './list-options.ts';

const OPERATIONS = {
  reload: 'bulkReload',
  freeze: 'bulkFreeze',
  unfreeze: 'bulkUnfreeze',
  approve: 'bulkApprove',
  retry: 'bulkRetry',
} as const;
type Action = keyof typeof OPERATIONS;
export const BULK_ACTIONS = Object.keys(OPERATIONS) as Action[];

interface Selecting {
  readonly kind?: string;
  readonly name?: string;
  readonly due?: string;
  readonly rollout?: string;
  readonly source?: string;
  readonly queue?: string;
}
interface Details {
  readonly now?: boolean;
  readonly overrideFreeze?: boolean;
  readonly until?: string;
}
interface BulkOptions extends Selecting, Details {
  readonly reason: string;
  readonly limit: string;
  readonly plan?: string;
}

/** The options that only some of the actions have. */
const ACTIONS_OF: Readonly<Partial<Record<keyof BulkOptions, readonly Action[]>>> = {
  due: ['reload', 'freeze', 'unfreeze', 'approve'],
  rollout: ['reload', 'freeze', 'unfreeze', 'approve'],
  source: ['reload', 'freeze', 'unfreeze', 'approve'],
  queue: ['retry'],
  now: ['reload'],
  overrideFreeze: ['reload'],
  until: ['freeze'],
};

export const addBulk: Adder = (program, host) => {
  program
    .command('bulk')
    .argument('<action>', `one of ${BULK_ACTIONS.join(', ')}`)
    .summary('reloads, freezes, unfreezes, approves or retries all that match')
    .description(
      'Acts on all workloads that match, or for retry on all failed jobs. Shows what would be done, and prints a plan; with --plan, does exactly that. Exits with 1 if something is or would be refused.',
    )
    .addOption(reasonOption())
    .addOption(listOutput())
    .option('--kind <kind>', `only of this kind: ${WORKLOAD_WORDS.join(', ')}`)
    .option('--name <part>', 'only names that contain this')
    .option('--source <source>', 'only workloads that use this source, e.g. secret/db')
    .option('--due <due>', 'only with a pending reload (`owed`) or a pending correction (`correct`)')
    .option('--rollout <state>', 'only with a rollout in this state: progressing, complete, stuck')
    .option('--queue <queue>', 'retry: only jobs of this queue')
    .option('--now', 'reload: even outside their windows, before their waves, or beyond their reload limits')
    .option('--override-freeze', 'reload: even if they are frozen; this needs a right of its own')
    .option('--until <time>', 'freeze: e.g. 2026-12-31T00:00:00Z, or 12h from now; default: until unfreeze')
    .option('--limit <number>', 'if more match, nothing is done; at most 100', '20')
    .option('--plan <plan>', 'do what an earlier call showed; if something else matches now, nothing is done')
    .action(running<BulkOptions>(host, runBulk));
};

async function runBulk({ session, io, words, options }: Call<BulkOptions>): Promise<ExitCode> {
  const action = wordArgument(
    'the action',
    onlyWord(words, `one of ${BULK_ACTIONS.join(', ')}`),
    BULK_ACTIONS,
  );
  requireOptionsOf(action, options);
  const { reason, plan } = options;
  const dryRun = plan === undefined;
  const limit = numberArgument('--limit', options.limit, { least: 1, most: 100 });
  const selector = selectorOf(action, session, options);
  const body = {
    reason,
    selector,
    limit,
    dryRun,
    ...(dryRun ? {} : { plan }),
    ...detailsOf(session, options),
  };
  const api = await session.admin();
  // The schema of the operation checks the body.
  const result = await api.call(OPERATIONS[action], { body: body as never });
  if (!printDocument(io, options.output, result)) {
    const noun = nounIn(action === 'retry' ? 'failed jobs' : 'workloads', session.namespaceOfLists);
    printList(io, options.output, { items: result.items, more: false, noun, view: BULK_VIEW });
    io.err(noteOf(result));
  }
  return result.items.every((item) => item.result === 'done' || item.result === 'planned')
    ? EXIT.done
    : EXIT.failed;
}

/** What is left to do. */
function noteOf({ dryRun, plan, items }: AnswerOf<'bulkReload'>): string {
  const count = (wanted: string): number => items.filter(({ result }) => result === wanted).length;
  const [planned, notStarted] = [count('planned'), count('notStarted')];
  if (dryRun && planned > 0)
    return `Nothing was changed. To do what is planned, repeat the command with --plan ${plan}\n`;
  if (notStarted === 0) return '';
  return `${notStarted} of ${items.length} were not started: there was no time left, or there were too many requests. Repeat the command without --plan to see what is left.\n`;
}

function requireOptionsOf(action: Action, options: BulkOptions): void {
  for (const [name, actions] of Object.entries(ACTIONS_OF)) {
    if (options[name as keyof BulkOptions] === undefined || actions.includes(action)) continue;
    const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw usageError(`expected --${flag} only with ${actions.join(', ')}, given ${action}`);
  }
}

/** Only the fields that are given. */
function selectorOf(
  action: Action,
  session: Session,
  { kind, name, due, rollout, source, queue }: Selecting,
) {
  const used = ifGiven(source, (text) => sourceRef([text], session.namespace));
  const all = {
    namespace: session.namespaceOfLists,
    kind: ifGiven(kind, (text) => kindOf(action, text)),
    name,
    due,
    rollout,
    source: used && `${used.kind}/${used.namespace}/${used.name}`,
    queue,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** A job can be that of a source, too. */
function kindOf(action: Action, text: string): string {
  const isOfJob = action === 'retry';
  const found = workloadKindOf(text) ?? (isOfJob ? sourceKindOf(text) : undefined);
  if (found !== undefined) return found;
  throw notOneOf('--kind', text, isOfJob ? [...WORKLOAD_WORDS, ...SOURCE_WORDS] : WORKLOAD_WORDS);
}

function detailsOf({ io }: Session, { now, overrideFreeze, until }: Details) {
  const end = ifGiven(until, (text) => new Date(untilArgument('--until', text, io.now())).toISOString());
  return {
    ...(now === true ? { now } : {}),
    ...(overrideFreeze === true ? { overrideFreeze } : {}),
    ...(end === undefined ? {} : { until: end }),
  };
}
