import { Injectable } from '@nestjs/common';
import { isWorkloadKind, kindOf, partsOf, type Key, type WorkloadKey } from '@reroll/core/model';
import type { Caller } from '../auth/caller.ts';
import { failedRequest } from '../history/failures.ts';
import { ReadModel } from '../history/read-model.ts';
import type { AnswerOf, Input } from '../http/operation-types.ts';
import { ProblemError } from '../http/problem-error.ts';
import { mustChange, mustChangeAllOf } from '../steering/must.ts';
import { ReloadWrites } from '../steering/reload-writes.service.ts';
import type { Write } from '../steering/writes.ts';
import { JobBoard, subjectOf, type FoundJob } from './job-board.ts';

interface Asked {
  readonly caller: Caller;
  readonly body: Pick<Input<'retryJob'>['body'], 'reason'>;
}

@Injectable()
export class JobRetries {
  constructor(
    private readonly board: JobBoard,
    private readonly model: ReadModel,
    private readonly reloads: ReloadWrites,
  ) {}

  /**
   * The retry of the job with this id, which may not exist. `subject`: that of the job, if it is known to have been there; then a
   * repetition is answered as before although the job has ended.
   */
  async write(
    id: string,
    { subject: known, ...asked }: Asked & { subject?: Key<string> },
  ): Promise<Write<void, AnswerOf<'retryJob'>>> {
    const { caller } = asked;
    const found = await this.board.find(id, caller);
    const subject = found ? subjectOf(found.job) : known;
    const reload = found && this.#reloadFor(found, asked);
    return {
      action: 'retryJob',
      target: subject === undefined ? id : `${id} ${subject}`,
      allow: async () => {
        if (subject === undefined) throw new ProblemError('NotFound');
        await (isOfWorkload(subject) ? mustChange(caller, subject) : mustChangeAllOf(caller, subject));
        await reload?.allow();
      },
      run: async () => {
        if (!found) throw new ProblemError('NotFound');
        await reload?.run();
        await this.board.retry(found);
      },
      answer: (_nothing, audit) => audit,
    };
  }

  /**
   * The manual reload to request for a job whose manual reload has failed: the request ended with the failure, unless the API server was
   * unavailable. Undefined: the job does not need one.
   */
  #reloadFor(
    { queue, state, job }: FoundJob,
    { caller, body: { reason } }: Asked,
  ): ReturnType<ReloadWrites['reload']> | undefined {
    if (queue !== 'reloads' || state !== 'failed') return undefined;
    const { workload, since } = job.data as { readonly workload: WorkloadKey; readonly since: number };
    const failed = failedRequest(this.model.contents.join.workload(workload)?.outcomes ?? [])?.entry;
    // Of several failed jobs of a workload, only that of the last request.
    if (failed?.since !== since || failed.reason === 'ApiUnavailable') return undefined;
    return this.reloads.reload({ params: partsOf(workload), caller, body: { reason } });
  }
}

/** A job of a source may reload every workload that uses it. */
function isOfWorkload(subject: Key<string>): subject is WorkloadKey {
  return isWorkloadKind(kindOf(subject));
}
