import type { ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { OperationId } from '@reroll/shared/api/operations';
import type { Request } from 'express';
import { describe, expect, it } from 'vitest';
import type { Authenticator, Caller } from '../auth/caller.ts';
import { anonymousReader } from '../auth/static-tokens.ts';
import type { Audited, AuditLog } from '../steering/audit-log.ts';
import { CallerGuard } from './caller.guard.ts';
import type { ActorLimit } from './limits/rate-limits.ts';
import { begin } from './request-context.ts';

const NOBODY: Caller = { ...anonymousReader(), mayRequest: () => Promise.resolve(false) };

/** What is audited of a request that the caller may not make. */
async function refused(
  id: OperationId,
  params: object,
  message = 'expected the right to post /reroll/api/v1/path or, of a static token, access: write',
): Promise<string[]> {
  const audited: Audited[] = [];
  const guard = new CallerGuard(
    { anonymous: NOBODY } as Authenticator,
    { addUndone: (entry: Audited) => Promise.resolve(void audited.push(entry)) } as unknown as AuditLog,
    { count: () => Promise.resolve() } as unknown as ActorLimit,
    { get: () => id } as unknown as Reflector,
  );
  const request = { method: 'POST', originalUrl: '/api/v1/path', headers: {}, params } as unknown as Request;
  begin(request, { id: '1', startedAt: 0, address: '10.0.0.1' });
  const execution = {
    getHandler: () => refused,
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => ({}) }),
  } as unknown as ExecutionContext;
  await expect(guard.canActivate(execution)).rejects.toMatchObject({ code: 'Forbidden', message });
  return audited.map(({ action }) => action);
}

describe('a refused write', () => {
  it.each<[string, OperationId, object, boolean]>([
    ['of a queue is audited', 'pauseQueue', { name: 'reloads' }, true],
    ['of a queue that cannot be is not', 'pauseQueue', { name: 'x'.repeat(16_000) }, false],
    ['of a workload is audited', 'reloadWorkload', { kind: 'Deployment', namespace: 'a', name: 'b' }, true],
    [
      'of a workload that cannot be is not',
      'reloadWorkload',
      { kind: 'Deployment', namespace: 'a', name: 'B!' },
      false,
    ],
    ['of what has no parameters is audited', 'setLimits', {}, true],
  ])('%s', async (_sentence, id, params, isAudited) => {
    expect(await refused(id, params)).toEqual(isAudited ? [id] : []);
  });
});

it('a refused read names the right alone, and is not audited', async () => {
  expect(await refused('getStatus', {}, 'expected the right to post /reroll/api/v1/path')).toEqual([]);
});
