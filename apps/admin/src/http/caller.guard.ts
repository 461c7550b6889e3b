import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { OPERATIONS, type Operation, type OperationId } from '@reroll/shared/api/operations';
import type { Request, Response } from 'express';
import { bearerToken } from '../auth/bearer-token.ts';
import type { Authenticator, Caller } from '../auth/caller.ts';
import { RBAC_PREFIX } from '../auth/kubernetes-tokens.ts';
import { AuditLog } from '../steering/audit-log.ts';
import { addressOf } from './limits/counted-as.ts';
import { writes } from './operation-types.ts';
import { ProblemError } from './problem-error.ts';
import { ActorLimit } from './limits/rate-limits.ts';
import { contextOf, pathOf, type RequestContext } from './request-context.ts';
import { OPERATION } from './serves.ts';
import { AUTHENTICATOR } from '../tokens.ts';

/** Admits authenticated callers that may call the operation. A method that serves no operation is closed. */
@Injectable()
export class CallerGuard implements CanActivate {
  constructor(
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    private readonly audit: AuditLog,
    private readonly limit: ActorLimit,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(execution: ExecutionContext): Promise<boolean> {
    const id = this.reflector.get<OperationId | undefined>(OPERATION, execution.getHandler());
    if (id === undefined) throw new ProblemError('NotFound');
    const http = execution.switchToHttp();
    const request = http.getRequest<Request>();
    // A stream has nothing to return for HEAD.
    if (request.method === 'HEAD' && !('answer' in OPERATIONS[id]))
      throw new ProblemError('MethodNotAllowed');
    const context = contextOf(request);
    context.operation = id;
    const caller = await this.#callerOf(request);
    context.caller = caller;
    await this.limit.count(request, http.getResponse<Response>());
    const access = { method: methodOf(request), path: pathOf(request), writes: writes(OPERATIONS[id]) };
    if (await caller.mayRequest(access)) return true;
    if (access.writes && namesSomething(id, request))
      await this.#auditRefusal(context, { action: id, target: access.path });
    const right = `${access.method} ${RBAC_PREFIX}${access.path.slice(0, 300)}`;
    const orWrite = access.writes ? ' or, of a static token, access: write' : '';
    const detail = `expected the right to ${right}${orWrite}`;
    throw new ProblemError('Forbidden', { detail });
  }

  /** The audit entry has no reason, because the body is not read. */
  async #auditRefusal(
    { id, caller }: RequestContext,
    about: { action: OperationId; target: string },
  ): Promise<void> {
    const actor = caller?.name ?? '';
    const refused = { result: 'refused', code: 'Forbidden', reason: '', requestId: id } as const;
    await this.audit.addUndone({ actor, ...about, ...refused });
  }

  async #callerOf(request: Request): Promise<Caller> {
    const { given, token } = bearerToken(request);
    if (token !== undefined) return await this.authenticator.authenticate(token, addressOf(request));
    const { anonymous } = this.authenticator;
    if (given || !anonymous)
      throw new ProblemError('Unauthenticated', { detail: 'expected Authorization: Bearer <token>' });
    return anonymous;
  }
}

/** Whether the path's parameters are valid for the operation. Made-up paths appear only in the log of requests. */
function namesSomething(id: OperationId, { params }: Request): boolean {
  const operation: Operation = OPERATIONS[id];
  return operation.params?.safeParse(params).success ?? true;
}

function methodOf({ method }: Request): string {
  return method === 'HEAD' ? 'get' : method.toLowerCase();
}
