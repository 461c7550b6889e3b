import { Catch, HttpException, Inject, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { KubeError } from '@reroll/kube/client/errors';
import { errorFields } from '@reroll/shared/platform/logging/error-fields';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { Request, Response } from 'express';
import { ReplyError } from 'ioredis';
import { methodsOf } from './methods.ts';
import { ProblemError } from './problem-error.ts';
import { contextOf, pathOf } from './request-context.ts';
import { LOG } from '@reroll/nest/tokens';

/** The messages of ioredis when a command got no reply. */
const NO_ANSWER: ReadonlySet<string> = new Set(['Command timed out', 'Connection is closed.']);

/** Problems that may be over in a second. */
const SOON: ReadonlySet<string> = new Set(['Unavailable', 'TooManyRequests']);

/** Answers every error with problem details. Errors that the caller did not cause are logged. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(@Inject(LOG) private readonly log: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<Request>(), http.getResponse<Response>());
  }

  answer(error: unknown, request: Request, response: Response): void {
    const { id, operation } = contextOf(request);
    const methods = methodsOf(pathOf(request));
    const problem = problemOf(error, methods.length > 0);
    if (problem.status >= 500 && !(error instanceof ProblemError))
      this.log.error('a request failed', { requestId: id, operation, ...errorFields(error) });
    if (response.headersSent) return void response.destroy();
    sendProblem(problem, { response, requestId: id, methods });
  }
}

function sendProblem(
  problem: ProblemError,
  to: { response: Response; requestId: string; methods?: readonly string[] },
): void {
  const { response, requestId, methods = [] } = to;
  if (problem.code === 'Unauthenticated') response.setHeader('WWW-Authenticate', 'Bearer realm="reroll"');
  if (problem.code === 'MethodNotAllowed') response.setHeader('Allow', methods.join(', '));
  // The limit of requests a minute has set its own.
  if (SOON.has(problem.code) && !response.hasHeader('Retry-After')) response.setHeader('Retry-After', '1');
  // The rest of the body is not read, so the connection cannot be reused.
  if (problem.code === 'TooLarge') response.setHeader('Connection', 'close');
  response.statusCode = problem.status;
  response.setHeader('Content-Type', 'application/problem+json; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  response.end(JSON.stringify({ ...problem.toJSON(), requestId }));
}

/** `isPath`: whether the API has the path, with whatever methods. */
export function problemOf(error: unknown, isPath: boolean): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof HttpException) return ofNest(error.getStatus(), isPath);
  if (error instanceof KubeError)
    return new ProblemError('Unavailable', { detail: 'the API server did not answer' });
  if (error instanceof ReplyError || (error instanceof Error && NO_ANSWER.has(error.message)))
    return new ProblemError('Unavailable', { detail: 'Redis did not answer' });
  // Express throws this for a path with invalid percent-encoding.
  if (error instanceof URIError) return new ProblemError('InvalidRequest');
  return new ProblemError('Internal');
}

/** Nest itself refuses only requests without a route. */
function ofNest(status: number, isPath: boolean): ProblemError {
  if (status === 404) return new ProblemError(isPath ? 'MethodNotAllowed' : 'NotFound');
  return new ProblemError(status < 500 ? 'InvalidRequest' : 'Internal');
}
