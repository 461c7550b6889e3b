import { BULK_LIMIT, MOST_IN_BULK } from '@reroll/shared/api/bulk-limits';
import { QUEUE_NAMES } from '@reroll/shared/api/queues';
import type { AnswerOf } from '../api/operation.ts';
import { sourceRef } from '../args/object-ref.ts';
import { SOURCE_WORDS, sourceKindOf, workloadKindOf, WORKLOAD_WORDS } from '../args/kinds.ts';
import { ifGiven, notOneOf, numberArgument, untilArgument, wordArgument } from '../args/values.ts';
import { EXIT, usageError, type ExitCode } from '../errors.ts';
import { printDocument, printList } from '../output/print.ts';
import type { Session } from '../session.ts';
import { BULK_OF_JOBS_VIEW, BULK_VIEW } from '../views/bulk.ts';
import { listOutput, reasonOption, running, type Adder, type Call } from './command.ts';
import { nounIn, onlyWord } from './list-options.ts';
import { DUE, dueOption, ROLLOUTS } from './workloads.ts';

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
  readonly plan?: string;
}
interface BulkOptions extends Selecting, Details {
  readonly reason: string;
  readonly limit: string;
}

const OF_WORKLOADS: readonly Action[] = ['reload', 'freeze', 'unfreeze', 'approve'];
/** The options that only some of the actions have. */
const ACTIONS_OF: Readonly<Partial<Record<keyof BulkOptions, readonly Action[]>>> = {
  due: OF_WORKLOADS,
  rollout: OF_WORKLOADS,
  source: OF_WORKLOADS,
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
      'Acts on all workloads that match or, with retry, on all failed jobs that match. Shows what would be done, and prints a plan; with --plan, does exactly that. Exits with 1 unless all of it is, or would be, done.',
    )
    .addOption(reasonOption())
    .addOption(listOutput())
    .option('--kind <kind>', `only of this kind: ${WORKLOAD_WORDS.join(', ')}`)
    .option('--name <part>', 'only names that contain this')
    .option('--source <source>', 'only workloads that use this source, e.g. secret/db')
    .addOption(dueOption())
    .option('--rollout <state>', `only with a rollout in this state: ${ROLLOUTS.join(', ')}`)
    .option('--queue <queue>', 'retry: only jobs of this queue')
    .option('--now', 'reload: bypass windows, waves, reload limits and the limit of rollouts at once')
    .option('--override-freeze', 'reload: even if they are frozen; this needs a right of its own')
    .option('--until <time>', 'freeze: e.g. 2026-12-31T00:00:00Z, or 12h from now; default: until unfreeze')
    .option('--limit <number>', `if more match, nothing is done; at most ${MOST_IN_BULK}`, String(BULK_LIMIT))
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
  const limit = numberArgument('--limit', options.limit, { least: 1, most: MOST_IN_BULK });
  const selector = selectorOf(action, session, options);
  const details = detailsOf(session, options);
  const body = { reason, selector, limit, dryRun, ...(dryRun ? {} : { plan }), ...details };
  const api = await session.admin();
  // The schema of the operation checks the body.
  const result = await api.call(OPERATIONS[action], { body: body as never });
  if (!printDocument(io, options.output, result)) {
    const noun = nounIn(action === 'retry' ? 'failed jobs' : 'workloads', session.namespaceOfLists);
    const view = action === 'retry' ? BULK_OF_JOBS_VIEW : BULK_VIEW;
    printList(io, options.output, { items: result.items, more: false, noun, view });
    io.err(noteOf(action, result, details.until));
  }
  return result.items.every((item) => item.result === 'done' || item.result === 'planned')
    ? EXIT.done
    : EXIT.failed;
}

/** What is left to do. `until`: of a freeze, at a time that the plan has. */
function noteOf(
  action: Action,
  { dryRun, plan, items }: AnswerOf<'bulkReload'>,
  until: string | undefined,
): string {
  const count = (wanted: string): number => items.filter(({ result }) => result === wanted).length;
  const [planned, notStarted] = [count('planned'), count('notStarted')];
  if (dryRun && planned > 0)
    return `Nothing was changed. To do what is planned, repeat the command with ${until === undefined ? '' : `--until ${until} `}--plan ${plan}\n`;
  if (notStarted === 0) return '';
  const why = `Not started: ${notStarted} of ${items.length}, because there was no time left or there were too many requests.`;
  return `${why} ${ENDS_MATCH.includes(action) ? AGAIN : NARROWER}\n`;
}

/** What they have done does not match any more. */
const ENDS_MATCH: readonly Action[] = ['approve', 'retry'];
const AGAIN = 'Repeat the command without --plan to see what is left.';
const NARROWER = 'Do these with a narrower filter: the same command would act again on those that are done.';

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
    // A source is used in its own namespace only.
    namespace: used?.namespace ?? session.namespaceOfLists,
    kind: ifGiven(kind, (text) => kindOf(action, text)),
    name,
    due: ifGiven(due, (text) => wordArgument('--due', text, DUE)),
    rollout: ifGiven(rollout, (text) => wordArgument('--rollout', text, ROLLOUTS)),
    source: used && `${used.kind}/${used.namespace}/${used.name}`,
    queue: ifGiven(queue, (text) => wordArgument('--queue', text, QUEUE_NAMES)),
  };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  if (given.length === 0) throw usageError('expected one more filter with -A, such as --source or --kind');
  return Object.fromEntries(given);
}

/** A job can be that of a source, too. */
function kindOf(action: Action, text: string): string {
  const isOfJob = action === 'retry';
  const found = workloadKindOf(text) ?? (isOfJob ? sourceKindOf(text) : undefined);
  if (found !== undefined) return found;
  throw notOneOf('--kind', text, isOfJob ? [...WORKLOAD_WORDS, ...SOURCE_WORDS] : WORKLOAD_WORDS);
}

function detailsOf({ io }: Session, { now, overrideFreeze, until, plan }: Details) {
  const end = ifGiven(until, (text) => endOf(text, { now: io.now(), isPlanned: plan !== undefined }));
  return {
    ...(now === true ? { now } : {}),
    ...(overrideFreeze === true ? { overrideFreeze } : {}),
    ...(end === undefined ? {} : { until: end }),
  };
}

/** RFC 3339. A plan has the time itself: one counted from now would be another each time. */
function endOf(
  text: string,
  { now, isPlanned }: { readonly now: number; readonly isPlanned: boolean },
): string {
  const end = untilArgument('--until', text, now);
  if (isPlanned && Number.isNaN(Date.parse(text)))
    throw usageError(`expected the --until that was printed with the plan, given ${JSON.stringify(text)}`);
  return new Date(end).toISOString();
}
