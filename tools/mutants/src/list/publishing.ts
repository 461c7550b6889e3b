/** What a leader writes to Redis, and in which order. */
import { inFile, SIMULATION } from '../mutant.ts';

const PUBLISH = 'apps/watcher/src/publish';
const RESYNC = 'apps/watcher/src/resync';
const OUTBOX = 'libs/core/src/state/outbox.ts';
const OUTBOX_SPEC = 'libs/core/src/state/outbox.spec.ts';
const WITH_REDIS = `${PUBLISH}/publisher-redis.spec.ts`;

export const publishingMutants = [
  ...inFile(`${PUBLISH}/publisher.ts`, [
    {
      name: 'what comes back with an older catalog stays in it',
      text: `clusterState.removeLeftOver(await leftOver());`,
      replacement: ``,
      killedBy: {
        spec: `${PUBLISH}/publisher.spec.ts`,
        test: 'a catalog that was lost is written anew, and what came back with it is removed',
      },
    },
    {
      name: 'jobs are enqueued before the rows that they need are written',
      text: `if (!(await this.#writeRows())) return;`,
      replacement: `
        const early = this.#context.clusterState.outbox.takeJobs(JOBS_PER_WRITE);
        await this.#enqueue(early).catch((error) => {
          this.#context.clusterState.outbox.putBackJobs(early);
          throw error;
        });
        if (!(await this.#writeRows())) return;`,
      killedBy: {
        spec: `${PUBLISH}/publisher.spec.ts`,
        test: 'a leader that loses the Lease while it writes rows enqueues nothing for them',
      },
    },
    {
      name: 'jobs wait as long as any row does',
      text: `const jobs = this.#context.clusterState.outbox.takeJobs(JOBS_PER_WRITE);`,
      replacement: `
        if (this.#context.clusterState.outbox.hasRows) return;
        const jobs = this.#context.clusterState.outbox.takeJobs(JOBS_PER_WRITE);`,
      killedBy: {
        spec: `${PUBLISH}/publisher.spec.ts`,
        test: 'jobs wait for the rows that waited with them, and not for those that change at every write',
      },
    },
    {
      name: 'a leader does not ask before a write whether it still leads',
      text: `return this.#term !== null && this.#context.leadership.isLeader();`,
      replacement: `return this.#term !== null;`,
      killedBy: {
        spec: `${PUBLISH}/publisher.spec.ts`,
        test: 'a leader that loses the Lease while it writes rows enqueues nothing for them',
      },
    },
    {
      name: 'jobs are dropped if they cannot be enqueued',
      text: `this.#context.clusterState.outbox.putBackJobs(jobs);`,
      replacement: ``,
      killedBy: {
        spec: `${PUBLISH}/publisher.spec.ts`,
        test: 'jobs that could not be enqueued are enqueued at the next try',
      },
    },
    {
      name: 'a catalog that is lost is not written anew',
      text: `if (intact) return;`,
      replacement: `return;`,
      killedBy: {
        spec: `${PUBLISH}/publisher.spec.ts`,
        test: 'a catalog that was lost is written anew, and what came back with it is removed',
      },
    },
    {
      name: 'a new leader enqueues nothing that its predecessor left untold',
      text: `for (const key of keys) clusterState.enqueueChange(key);`,
      replacement: ``,
      killedBy: {
        spec: WITH_REDIS,
        test: 'enqueues the change jobs that its predecessor wrote the rows for and did not enqueue',
      },
    },
  ]),
  ...inFile(OUTBOX, [
    {
      name: 'jobs go while all rows are written again',
      text: `if (this.#waitsForRows(namespace)) continue;`,
      replacement: ``,
      killedBy: {
        spec: OUTBOX_SPEC,
        test: 'writes every row in the end, however many change meanwhile, and gives no job before',
      },
    },
    {
      name: 'rows that change keep all rows from being written again',
      text: `const isDone = every?.fill(taken, Math.ceil(most / 2), 1 / 2) ?? false;`,
      replacement: `const isDone = false;`,
      killedBy: {
        spec: OUTBOX_SPEC,
        test: 'writes every row in the end, however many change meanwhile, and gives no job before',
      },
    },
    {
      name: 'a job waits until the rows of all namespaces are written again',
      text: `this.#everySource?.hasAllOf(namespace) === false || this.#everyWorkload?.hasAllOf(namespace) === false`,
      replacement: `this.#writesEvery`,
      killedBy: {
        spec: OUTBOX_SPEC,
        test: 'writes the rows of a namespace with a job first, and gives the job when they are written',
      },
    },
    {
      name: 'what happens joins a job that goes before its row is written',
      text: `this.#withJob(key, cause).open.enqueueReload(key, cause);`,
      replacement: `if (!this.#withJob(key).closed.reloads.has(key)) this.#withJob(key).open.enqueueReload(key, cause);`,
      killedBy: {
        spec: OUTBOX_SPEC,
        test: 'gives a job of its own to what happens after the job before it was closed',
      },
    },
  ]),
  ...inFile('libs/core/src/state/lots.ts', [
    {
      name: 'jobs go before the rows of their namespace',
      text: `if (!this.closed.hasRows) taken.addFrom(this.closed);`,
      replacement: `taken.addFrom(this.closed);`,
      killedBy: { spec: OUTBOX_SPEC, test: 'has the jobs of a namespace wait for its own rows only' },
    },
  ]),
  ...inFile(`${PUBLISH}/catalog-writer.ts`, [
    {
      name: 'a write whose reply was lost is given up',
      text: `const result = await this.#catalog.publish(this.#unanswered);`,
      replacement: `
        const sent = this.#unanswered;
        this.#unanswered = null;
        const result = await this.#catalog.publish(sent);`,
      killedBy: {
        spec: WITH_REDIS,
        test: 'is sent once more as it was: no row and no change job more than without the loss',
      },
    },
  ]),
  ...inFile(`${PUBLISH}/left-over.ts`, [
    {
      name: 'what a new leader finds of a namespace out of scope stays',
      text: `!exists || isOld(key)`,
      replacement: `!exists`,
      killedBy: {
        spec: `${PUBLISH}/publisher.spec.ts`,
        test: 'what a new leader finds of a namespace out of scope, and what leaves it meanwhile, is removed',
      },
    },
  ]),
  ...inFile(`${PUBLISH}/restored-etcd.ts`, [
    {
      name: 'the catalog outlives a restore of etcd',
      text: `await catalog.reset(fence);`,
      replacement: ``,
      killedBy: {
        spec: `${PUBLISH}/restored-etcd.spec.ts`,
        test: 'counts it, resets the catalog, records an Event and ends with exit code 1',
      },
    },
  ]),
  ...inFile(`${RESYNC}/resyncer.ts`, [
    {
      name: 'a new leader does not write what it knows',
      text: `clusterState.assertAll();`,
      replacement: ``,
      killedBy: SIMULATION,
    },
    {
      name: 'a manual reload that was requested and not enqueued is forgotten',
      text: `clusterState.enqueueRequested(await this.#ask.requested());`,
      replacement: ``,
      killedBy: {
        spec: `${RESYNC}/resyncer.spec.ts`,
        test: 'a requested reload is enqueued by every resync of the leader',
      },
    },
  ]),
  ...inFile(`${RESYNC}/adoption.ts`, [
    {
      name: 'adoption has no limit',
      text: `this.#tokens -= 1;`,
      replacement: ``,
      killedBy: {
        spec: `${RESYNC}/adoption.spec.ts`,
        test: 'a second are taken a few at a time, also after a long rest',
      },
    },
  ]),
];
