/** What a worker reads before it decides, and what it may do. */
import { inFile } from '../mutant.ts';

const WORKER = 'apps/worker/src';
const CHANGES = `${WORKER}/change/change.processor.spec.ts`;
const JOBS = `${WORKER}/reload/send/recreate-job.spec.ts`;
const RELOADS = `${WORKER}/reload/reload.processor.spec.ts`;

export const workerMutants = [
  ...inFile(`${WORKER}/change/change.processor.ts`, [
    {
      name: 'only the first portion of the users of a source is enqueued',
      text: `yield items.slice(at, at + USERS_PER_PORTION);`,
      replacement: `yield items.slice(0, at === 0 ? USERS_PER_PORTION : 0);`,
      killedBy: { spec: CHANGES, test: 'of many users is handled in portions' },
    },
    {
      name: 'what can be no workload is believed because the index has it',
      text: `if (isWorkloadKey(key)) users.add(key);`,
      replacement: `users.add(key);`,
      killedBy: { spec: CHANGES, test: 'with users that can be none reads nothing either' },
    },
    {
      name: 'a new change leaves a job that failed to its pause',
      text: `await queue.bringForward((await catalog.backingOff(some)).values());`,
      replacement: ``,
      killedBy: { spec: CHANGES, test: 'for which a job waits brings it forward' },
    },
    {
      name: 'a change job takes the hashes of another write than the row shows',
      text: `reading?.rv === row.rv &&`,
      replacement: `reading &&`,
      killedBy: { spec: CHANGES, test: 'are not taken if the row shows another write' },
    },
    {
      name: 'a change job takes hashes under another key than the row has',
      text: `&& reading.hash === row.hash`,
      replacement: ``,
      killedBy: { spec: CHANGES, test: 'nor if the row has a hash under another key' },
    },
  ]),
  ...inFile(`${WORKER}/reload/workload-reader.ts`, [
    {
      name: 'any error of the API server means that a workload is gone',
      text: `if (error instanceof KubeError && error.status === 404) return null;`,
      replacement: `if (error instanceof KubeError) return null;`,
      killedBy: { spec: RELOADS, test: 'the API server fails' },
    },
  ]),
  ...inFile(`${WORKER}/reload/reload-plan.ts`, [
    {
      name: 'what the change job read counts as read after the workload',
      text: `isRecorded: recorded === handed.hash, afterWorkload: false`,
      replacement: `isRecorded: recorded === handed.hash, afterWorkload: true`,
      killedBy: { spec: RELOADS, test: 'the record is corrected only by a read after that of the workload' },
    },
  ]),
  ...inFile(`${WORKER}/reload/reload.processor.ts`, [
    {
      name: 'a dry run writes',
      text: `if (this.#settings.dryRun) {`,
      replacement: `if (false) {`,
      killedBy: { spec: RELOADS, test: 'a dry run that only records' },
    },
    {
      name: 'a workload in conflict is reloaded all the same',
      text: `if (contested) return contested;`,
      replacement: ``,
      killedBy: { spec: RELOADS, test: 'a conflict with another controller' },
    },
    {
      name: 'an entry under a key that only others have is skipped for good',
      text: `throw new NotYetError('KeyUnknown', KEY_WAIT, leftOutcome(gathered));`,
      replacement: ``,
      killedBy: { spec: RELOADS, test: 'its record is under a key that others have' },
    },
  ]),
  ...inFile(`${WORKER}/reload/reload-slot.ts`, [
    {
      name: 'a reload needs no slot',
      text: `if (wait > 0) throw new NotYetError('RateLimited', wait);`,
      replacement: ``,
      killedBy: { spec: RELOADS, test: 'the limit of reloads is used up' },
    },
    {
      name: 'a slot that turns out to be needless is kept',
      text: `await this.#budget.end(this.#workload, isUsed);`,
      replacement: ``,
      killedBy: {
        spec: `${WORKER}/reload/reload-slot.spec.ts`,
        test: 'is given back by what turns out to need no reload',
      },
    },
  ]),
  ...inFile(`${WORKER}/reload/send/reload-way.ts`, [
    {
      name: 'a patch that somebody overtook is a failure',
      text: `return error.status === 404 || error.status === 409 || (error.status === 422 && error.causes.length === 0);`,
      replacement: `return false;`,
      killedBy: { spec: RELOADS, test: 'also if others wrote to it up to four times' },
    },
  ]),
  ...inFile(`${WORKER}/reload/send/recreate-job.ts`, [
    {
      name: 'a Job that finished meanwhile is deleted',
      text: `job.leftAlone?.(present) === 'JobFinished')`,
      replacement: `job.leftAlone === undefined)`,
      killedBy: { spec: RELOADS, test: 'unless the old Job finished first' },
    },
    {
      name: 'a Job is deleted before a pending Job keeps it',
      text: `this.#finish(await this.#keep(kept), workload.object.metadata);`,
      replacement: `this.#finish(pendingJobOf(kept), workload.object.metadata);`,
      killedBy: { spec: JOBS, test: 'is deleted only once its pending Job is there, which is deleted last' },
    },
    {
      name: 'a Job is deleted though the API server would refuse the new one',
      text: `if (!(await this.#wouldBeTaken(kept))) return false;`,
      replacement: ``,
      killedBy: { spec: JOBS, test: 'is left alone if the API server would refuse the new one' },
    },
    {
      name: 'a worker whose recreation another one has done reports a reload too',
      text: `return ending === 'deleted' && { generation: 1 };`,
      replacement: `return ending !== 'finished' && { generation: 1 };`,
      killedBy: { spec: JOBS, test: 'is reloaded once if another worker recreates it at the same time' },
    },
    {
      name: 'a Job is deleted though it has changed since it was read',
      text: `preconditions: { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) },`,
      replacement: ``,
      killedBy: { spec: JOBS, test: 'stays if it finishes before it is deleted' },
    },
  ]),
  ...inFile(`${WORKER}/reload/send/run-cron-job.ts`, [
    {
      name: 'a CronJob that is suspended gets a Job',
      text: `return observed.isSuspended ? 'CronJobSuspended' : undefined;`,
      replacement: `return undefined;`,
      killedBy: { spec: RELOADS, test: 'a CronJob that is suspended is only recorded' },
    },
    {
      name: 'a Job of a CronJob stands for more than it was created for',
      text: `return written && standsFor(carried, reload);`,
      replacement: `return written;`,
      killedBy: {
        spec: `${WORKER}/reload/send/run-cron-job.spec.ts`,
        test: 'a Job of a reload that was cut off stands for the data that it was created for, and no other',
      },
    },
  ]),
  ...inFile(`${WORKER}/reload/resume.processor.ts`, [
    {
      name: 'a pause is ended before its time',
      text: `if (wait > 0) throw new NotYetError('Paused', Math.min(wait, LONGEST_DELAY));`,
      replacement: ``,
      killedBy: {
        spec: `${WORKER}/reload/resume.processor.spec.ts`,
        test: 'is not ended before its time',
      },
    },
  ]),
  ...inFile(`${WORKER}/queue-runner.ts`, [
    {
      name: 'Redis is told what an error of others says',
      text: `throw jobError.isFinal ? new UnrecoverableError(jobError.message) : jobError;`,
      replacement: `throw error;`,
      killedBy: {
        spec: `${WORKER}/queue-runner.spec.ts`,
        test: 'of an error of others, Redis is told neither message nor stack',
      },
    },
  ]),
  ...inFile(`${WORKER}/require-room.ts`, [
    {
      name: 'a workload without room for its record is patched',
      text: `if (isRoomFor(before, after)) return;`,
      replacement: `return;`,
      killedBy: { spec: RELOADS, test: 'annotations without room for a record' },
    },
    {
      name: 'a record may be of any size',
      text: `if (!isRecordInBounds(record, observed.record)) {`,
      replacement: `if (false) {`,
      killedBy: { spec: RELOADS, test: 'a record that would be too large' },
    },
  ]),
];
