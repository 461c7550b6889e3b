import { Controller, Inject } from '@nestjs/common';
import { QUEUE_NAMES, type Job as JobAnswer } from '@reroll/shared/api/queues';
import { workloadKind } from '@reroll/shared/kube/workloads/registry';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { Places } from '../http/places.ts';
import { ProblemError } from '../http/problem-error.ts';
import { Serves } from '../http/serves.ts';
import { JOB_STATES, JobBoard, retry, subjectOf, type FoundJob } from '../jobs/job-board.ts';
import { jobView } from '../jobs/job-view.ts';
import { mustChange, mustChangeAllOf } from '../steering/must.ts';
import { Writes } from '../steering/writes.ts';

/** `<Unix ms> <id>` of the last job of a page; neither ever changes. */
const POSITION = /^\d{1,16} [\w:-]+$/u;

@Controller()
export class JobsController {
  @Inject(Places) private readonly places!: Places;
  @Inject(JobBoard) private readonly board!: JobBoard;
  @Inject(Writes) private readonly writes!: Writes;

  /** Newest first. */
  @Serves('listJobs')
  async list({ query, caller }: Input<'listJobs'>): Promise<AnswerOf<'listJobs'>> {
    const after = this.places.read(query.cursor, POSITION);
    const names = query.queue === undefined ? QUEUE_NAMES : [query.queue];
    const states = query.state === undefined ? JOB_STATES : [query.state];
    const lists = await Promise.all(
      names.flatMap((name) => states.map((state) => this.board.jobs(name, state, caller))),
    );
    const views = lists.flat().flatMap((found) => jobView(found) ?? []);
    // A job that moves while it is looked for can be found in two states.
    const jobs = [...new Map(views.map((job) => [job.id, job])).values()].sort(newestFirst);
    const rest = after === undefined ? jobs : jobs.filter((job) => isAfter(job, after));
    const items = rest.slice(0, query.limit);
    const last = items.at(-1);
    return { items, next: last && rest.length > items.length ? this.places.seal(placeOf(last)) : null };
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
    const { params, caller } = input;
    const found = await this.board.find(params.id, caller);
    const subject = found && subjectOf(found.job);
    return await this.writes.perform(input, {
      action: 'retryJob',
      target: subject === undefined ? params.id : `${params.id} ${subject}`,
      allow: async () => {
        if (subject === undefined) throw new ProblemError('NotFound');
        await mayRetry(subject)(caller, subject);
      },
      run: async () => await retry(found as FoundJob),
      answer: (_nothing, audit) => audit,
    });
  }
}

/** A job of a source may roll every workload that uses it. */
function mayRetry(subject: string): typeof mustChange {
  return workloadKind(subject.split('/')[0] ?? '') ? mustChange : mustChangeAllOf;
}

function placeOf({ createdAt, id }: JobAnswer): string {
  return `${Date.parse(createdAt)} ${id}`;
}

function newestFirst(a: JobAnswer, b: JobAnswer): number {
  return Date.parse(b.createdAt) - Date.parse(a.createdAt) || (a.id < b.id ? 1 : -1);
}

function isAfter(job: JobAnswer, position: string): boolean {
  const [at = '', id = ''] = position.split(' ');
  const created = Date.parse(job.createdAt);
  return created < Number(at) || (created === Number(at) && job.id < id);
}
