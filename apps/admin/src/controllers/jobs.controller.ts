import { Controller } from '@nestjs/common';
import type { Key } from '@reroll/core/model';
import { QUEUE_NAMES } from '@reroll/shared/api/queues';
import { ReadModel } from '../history/read-model.ts';
import { ReloadJobs } from '../history/reload-jobs.ts';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Cursors } from '../http/cursors.ts';
import { ProblemError } from '../http/problem-error.ts';
import { Serves } from '../http/serves.ts';
import { JobBoard, subjectOf } from '../jobs/job-board.ts';
import { JOB_STATES } from '../jobs/job-lists.ts';
import { pageOfJobs, POSITION } from '../jobs/job-page.ts';
import { JobRetries } from '../jobs/job-retries.ts';
import { jobView } from '../jobs/job-view.ts';
import { pageOfUnresolved } from '../jobs/unresolved.ts';
import { ObjectFacts } from '../objects/object-facts.ts';
import { idempotencyKeyOf, Writes } from '../steering/writes.ts';

@Controller()
export class JobsController {
  constructor(
    private readonly cursors: Cursors,
    private readonly board: JobBoard,
    private readonly writes: Writes,
    private readonly model: ReadModel,
    private readonly facts: ObjectFacts,
    private readonly reloads: ReloadJobs,
    private readonly retries: JobRetries,
  ) {}

  /** Newest first. */
  @Serves('listJobs')
  async list({ query, caller }: Input<'listJobs'>): Promise<AnswerOf<'listJobs'>> {
    const after = this.cursors.read(query.cursor, POSITION);
    const names = query.queue === undefined ? QUEUE_NAMES : [query.queue];
    const states = query.state === undefined ? JOB_STATES : [query.state];
    const lists = await Promise.all(
      names.flatMap((name) => states.map((state) => this.board.jobs(name, state))),
    );
    const jobs = lists.flat().flatMap((found) => jobView(found) ?? []);
    const by = { after, limit: query.limit, namespaces: await NamespacesAsked.of(caller) };
    const { facts, reloads } = this;
    const { items, last } =
      query.unresolved === undefined
        ? await pageOfJobs(jobs, by)
        : await pageOfUnresolved(jobs, { ...by, join: this.model.contents.join, facts, reloads });
    return { items: [...items], next: this.cursors.next(last) };
  }

  @Serves('getJob')
  async get({ params, caller }: Input<'getJob'>): Promise<AnswerOf<'getJob'>> {
    const found = await this.board.find(params.id, caller);
    const view = found && jobView(found);
    if (!view) throw new ProblemError('NotFound');
    return view;
  }

  @Serves('retryJob')
  async retry(input: Input<'retryJob'>): Promise<AnswerOf<'retryJob'>> {
    const { params, caller, body } = input;
    const subject = await this.subject(input);
    const known = subject === undefined ? {} : { subject };
    const write = await this.retries.write(params.id, { caller, body, ...known });
    return await this.writes.perform(input, write);
  }

  /** That of the job when it was first asked for with this idempotency key, if there is one. */
  private async subject(input: Input<'retryJob'>): Promise<Key<string> | undefined> {
    const key = idempotencyKeyOf(input.request);
    if (key === undefined) return undefined;
    try {
      return await this.writes.found(input, `${key} job`, async () => {
        const found = await this.board.find(input.params.id, input.caller);
        const subject = found && subjectOf(found.job);
        if (subject === undefined) throw new ProblemError('NotFound');
        return subject;
      });
    } catch (error) {
      // The write refuses it, and is audited.
      if (error instanceof ProblemError && error.code === 'NotFound') return undefined;
      throw error;
    }
  }
}
