import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { silentLogger } from '@reroll/shared/platform/logging/logging';
import type { Request } from 'express';
import { expect, it } from 'vitest';
import { anonymousReader } from '../auth/static-tokens.ts';
import type { ReadModel } from '../history/read-model.ts';
import type { ReloadJobs } from '../history/reload-jobs.ts';
import type { Cursors } from '../http/cursors.ts';
import type { Input } from '../http/operation-types.ts';
import type { JobBoard } from '../jobs/job-board.ts';
import { JobRetries } from '../jobs/job-retries.ts';
import type { ObjectFacts } from '../objects/object-facts.ts';
import type { AuditLog } from '../steering/audit-log.ts';
import { Idempotency } from '../steering/idempotency.ts';
import type { ReloadWrites } from '../steering/reload-writes.service.ts';
import { Writes } from '../steering/writes.ts';
import { JobsController } from './jobs.controller.ts';

const CALLER = { ...anonymousReader(), mayChange: () => Promise.resolve(true) };

const redis = useRealRedis();

function retrying() {
  const jobs = new Map([['reloads:7', { data: { workload: 'Deployment/shop/web' } }]]);
  const retried: unknown[] = [];
  const board = {
    find: async (id: string) => {
      const job = jobs.get(id);
      return await Promise.resolve(job && { job });
    },
    retry: async (found: unknown) => void retried.push(await Promise.resolve(found)),
  } as unknown as JobBoard;
  const audit = { addDone: async () => ({ id: '1-0', at: 0 }), addUndone: async () => undefined };
  const idempotency = new Idempotency(redis.client, redis.freshKeys(), { log: silentLogger });
  const writes = new Writes(audit as unknown as AuditLog, idempotency);
  const [model, facts, reloads] = [{} as ReadModel, {} as ObjectFacts, {} as ReloadJobs];
  const retries = new JobRetries(board, model, {} as ReloadWrites);
  const controller = new JobsController({} as Cursors, board, writes, model, facts, reloads, retries);
  const retry = (key: string) => {
    const request = { method: 'POST', url: '/', originalUrl: '/', headers: { 'idempotency-key': key } };
    const input = { params: { id: 'reloads:7' }, caller: CALLER, body: { reason: 'r' }, requestId: '1' };
    return controller.retry({
      ...input,
      request: request as unknown as Request,
    } as unknown as Input<'retryJob'>);
  };
  return { jobs, retried, retry };
}

it('a retry that is repeated after the job has ended is answered as before', async () => {
  const { jobs, retried, retry } = retrying();
  const first = await retry('key-0001');
  jobs.clear();
  expect(await retry('key-0001')).toEqual(first);
  expect(retried).toHaveLength(1);
});

it('a job that was never there is not found, with a key too', async () => {
  const { jobs, retry } = retrying();
  jobs.clear();
  await expect(retry('key-0002')).rejects.toMatchObject({ code: 'NotFound' });
});
