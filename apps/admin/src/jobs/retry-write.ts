import { isWorkloadKind, kindOf, type Key, type WorkloadKey } from '@reroll/core/model';
import type { Caller } from '../auth/caller.ts';
import type { AnswerOf } from '../http/operation-types.ts';
import { ProblemError } from '../http/problem-error.ts';
import { mustChange, mustChangeAllOf } from '../steering/must.ts';
import type { Write } from '../steering/writes.ts';
import { subjectOf, type JobBoard } from './job-board.ts';

/**
 * The retry of the job with this id, which may not exist. `subject`: that of the job, if it is known to have been there; then a
 * repetition is answered as before although the job has ended.
 */
export async function retryWrite(
  id: string,
  {
    caller,
    board,
    subject: known,
  }: { caller: Caller; board: Pick<JobBoard, 'find' | 'retry'>; subject?: Key<string> },
): Promise<Write<void, AnswerOf<'retryJob'>>> {
  const found = await board.find(id, caller);
  const subject = found ? subjectOf(found.job) : known;
  return {
    action: 'retryJob',
    target: subject === undefined ? id : `${id} ${subject}`,
    allow: async () => {
      if (subject === undefined) throw new ProblemError('NotFound');
      await (isOfWorkload(subject) ? mustChange(caller, subject) : mustChangeAllOf(caller, subject));
    },
    run: async () => {
      if (!found) throw new ProblemError('NotFound');
      await board.retry(found);
    },
    answer: (_nothing, audit) => audit,
  };
}

/** A job of a source may reload every workload that uses it. */
function isOfWorkload(subject: Key<string>): subject is WorkloadKey {
  return isWorkloadKind(kindOf(subject));
}
