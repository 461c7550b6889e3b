import { isKey, namespaceOf } from '@reroll/core/model';
import { jobState, QUEUE_NAMES } from '@reroll/shared/api/queues';
import { listed } from '../api/pages.ts';
import { ifGiven, wordArgument } from '../args/values.ts';
import { usageError } from '../errors.ts';
import { printDocument, printList, type Output } from '../output/print.ts';
import { safeText } from '../output/safe-text.ts';
import type { Session } from '../session.ts';
import { jobsView, QUEUES_VIEW } from '../views/queues.ts';
import { limitOption, listOutput, oneOutput, reasonOption, running, type Adder } from './command.ts';
import { limitOf, onlyWord, requireNamespace, requireNoNamespace } from './list-options.ts';
import { resumeChange } from './resume-change.ts';

export const addQueues: Adder = (program, host) => {
  program
    .command('queues')
    .summary('queues, and how many jobs wait in them')
    .description('Lists the queues, whether they are paused, and how many jobs are in each state.')
    .addOption(listOutput())
    .action(
      running(host, async ({ session, io, options }) => {
        requireNoNamespace(session, 'the queues are those of the installation');
        const { items } = await (await session.admin()).call('listQueues');
        printList(io, options.output, { items, more: false, noun: 'queues', view: QUEUES_VIEW });
      }),
    );
};

interface JobsOptions {
  readonly queue?: string;
  readonly state?: string;
  readonly unresolved?: boolean;
  readonly limit: string;
}

export const addJobs: Adder = (program, host) => {
  program
    .command('jobs')
    .summary('jobs that wait, run or have failed')
    .description(
      'Lists the jobs of all namespaces that wait, run or have failed: their subjects, attempts and next attempts.',
    )
    .addOption(listOutput())
    .option('--queue <queue>', `only of this queue: ${QUEUE_NAMES.join(', ')}`)
    .option('--state <state>', `only in this state: ${jobState.options.join(', ')}`)
    .option(
      '--unresolved',
      'without failed jobs that need no attention: what they were for is done, or another job does it',
    )
    .addOption(limitOption('50'))
    .action(
      running<JobsOptions>(host, async ({ session, io, options }) => {
        requireNoNamespace(session, 'the jobs of all namespaces are listed');
        const query = {
          queue: ifGiven(options.queue, (text) => wordArgument('--queue', text, QUEUE_NAMES)),
          state: ifGiven(options.state, (text) => wordArgument('--state', text, jobState.options)),
          unresolved: options.unresolved === true ? ('true' as const) : undefined,
        };
        const limit = limitOf(options.limit);
        const { items, more } = await listed(await session.admin(), 'listJobs', { query, limit });
        printList(io, options.output, { items, more, noun: 'jobs', view: jobsView(io.now()) });
      }),
    );
};

interface SteerOptions {
  readonly reason: string;
}

export const addPauseAndResume: Adder = (program, host) => {
  for (const verb of ['pause', 'resume'] as const) {
    program
      .command(verb)
      .argument(
        verb === 'pause' ? '<queue>' : '<queue or source>',
        `one of ${QUEUE_NAMES.join(', ')}${verb === 'pause' ? '' : '; or a source whose change is halted, e.g. secret/db'}`,
      )
      .summary(verb === 'pause' ? 'pauses a queue' : 'resumes a queue or a halted change')
      .description(
        verb === 'pause'
          ? 'Pauses a queue: workers take none of its jobs until it is resumed. Nothing is lost.'
          : 'Resumes a queue. With a source, continues its change in waves although a rollout failed, with an annotation that it writes with your rights in the cluster; later changes begin with their first wave. -o is for queues only.',
      )
      .addOption(reasonOption())
      .addOption(oneOutput())
      .action(
        running<SteerOptions>(host, async ({ session, io, words, options }) => {
          if (verb === 'resume' && words[0]?.includes('/') === true) {
            requireText(options.output);
            return await resumeChange(session, words, options.reason);
          }
          const name = wordArgument('the queue', onlyWord(words, 'the name of a queue'), QUEUE_NAMES);
          requireNoNamespace(session, 'the queues are those of the installation');
          const id = verb === 'pause' ? 'pauseQueue' : 'resumeQueue';
          const input = { params: { name }, body: { reason: options.reason } };
          const queue = await (await session.admin()).call(id, input);
          if (printDocument(io, options.output, queue)) return;
          io.out(`queue/${safeText(queue.name)} ${verb}d\n`);
        }),
      );
  }
};

/** @throws a usage error for `-o`, which prints answers of the API: a source is written in the cluster instead */
function requireText(output: Output | undefined): void {
  if (output !== undefined) throw usageError('expected --output only with a queue, given a source');
}

export const addRetry: Adder = (program, host) => {
  program
    .command('retry')
    .argument('<job>', 'id from `jobs`, e.g. reloads:1234')
    .summary('retries a job now')
    .description('Tries a job again at once, whether it has failed or waits for its next attempt.')
    .addOption(reasonOption())
    .addOption(oneOutput())
    .action(
      running<SteerOptions>(host, async ({ session, io, words, options }) => {
        const id = onlyWord(words, 'the id of a job');
        await requireNamespaceOfJob(session, id);
        const input = { params: { id }, body: { reason: options.reason } };
        const accepted = await (await session.admin()).call('retryJob', input);
        if (!printDocument(io, options.output, accepted)) io.out(`job/${safeText(id)} is tried again\n`);
      }),
    );
};

/** @throws an error if `-n` names another namespace than the job's subject has */
async function requireNamespaceOfJob(session: Session, id: string): Promise<void> {
  if (session.namedNamespace === undefined) return;
  const { subject } = await (await session.admin()).call('getJob', { params: { id } });
  if (subject === null) throw usageError(`expected no --namespace: the subject of job ${id} is not known`);
  requireNamespace(session, `job ${id}`, isKey(subject) ? namespaceOf(subject) : undefined);
}
