import type { Problem } from '@reroll/shared/api/problem';
import { Deadline } from '../deadline.ts';
import { keepCalm, secondsOf } from '../state/calm.ts';
import { connection } from '../state/connection.ts';
import { refused, token } from '../state/session.ts';
import { CALLS, type Answer, type CallId } from './calls.ts';

export interface CallRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** Of a write: the same one does not do it twice. */
  readonly idempotencyKey?: string;
}

/** An answer that is not the one asked for. `status` 0: there was no answer at all. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly status: number;
  readonly problem: Partial<Problem>;
  /** Seconds after which the API may be asked again, if it said so. */
  readonly retryAfter: number | undefined;

  constructor(status: number, problem: Partial<Problem>, retryAfter?: number) {
    super(problem.title ?? (status === 0 ? 'No answer' : `Answer ${status}`));
    this.status = status;
    this.problem = problem;
    this.retryAfter = retryAfter;
  }
}

const NO_ANSWER = { title: 'Reroll does not answer', detail: 'The connection to the admin API failed.' };

/** Milliseconds for an answer: more than `--api-request-timeout` is by default. */
const PATIENCE = 20_000;
/** Those that read much of the cluster get more than the option can be. */
const SLOW: readonly CallId[] = ['getConsumers', 'preview'];
const LONG_PATIENCE = 310_000;

/**
 * One request of the API. Throws a `CallError`, also if there is no answer for too long; a request that was aborted throws what
 * `fetch` throws.
 */
export async function call<Id extends CallId>(
  id: Id,
  request: CallRequest = {},
  signal?: AbortSignal,
): Promise<Answer<Id>> {
  const deadline = new Deadline(SLOW.includes(id) ? LONG_PATIENCE : PATIENCE, signal);
  try {
    const response = await send(urlOf(id, request), {
      method: CALLS[id].method.toUpperCase(),
      headers: headersOf(request),
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      signal: deadline.signal,
    });
    if (!response.ok) throw await errorOf(response);
    return (await response.json()) as Answer<Id>;
  } catch (error) {
    throw deadline.isOver ? noAnswer() : error;
  } finally {
    deadline.end();
  }
}

/** The stream of events, from after `last` if that is given. */
export async function openEvents(last: string | undefined, signal: AbortSignal): Promise<Response> {
  const headers = {
    ...headersOf({}),
    accept: 'text/event-stream',
    ...(last === undefined ? {} : { 'last-event-id': last }),
  };
  const response = await send(urlOf('streamEvents', {}), { headers, signal });
  if (!response.ok) throw await errorOf(response);
  return response;
}

function noAnswer(): CallError {
  connection.failed();
  return new CallError(0, NO_ANSWER);
}

async function send(url: URL, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, { ...init, cache: 'no-store', credentials: 'omit', redirect: 'error' });
    connection.answered();
    return response;
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw noAnswer();
  }
}

/** Relative to the page, so that any path prefix serves. */
function urlOf(id: CallId, { params = {}, query = {} }: CallRequest): URL {
  const path = CALLS[id].path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const url = new URL(`api/v1${path}`, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, value);
  }
  return url;
}

/** The token goes twice: the API server's service proxy takes `Authorization` away. */
function headersOf({ body, idempotencyKey }: CallRequest): Record<string, string> {
  const bearer = token.value === '' ? undefined : `Bearer ${token.value}`;
  return {
    accept: 'application/json',
    ...(bearer === undefined ? {} : { authorization: bearer, 'reroll-authorization': bearer }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
}

async function errorOf(response: Response): Promise<CallError> {
  if (response.status === 401) refused.value = token.value === '' ? 'needed' : 'notAccepted';
  const retryAfter = secondsOf(response.headers.get('retry-after'));
  if (response.status === 429 && retryAfter !== undefined) keepCalm(retryAfter);
  try {
    return new CallError(response.status, (await response.json()) as Problem, retryAfter);
  } catch {
    return new CallError(response.status, {}, retryAfter);
  }
}
