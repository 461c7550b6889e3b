import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationId } from '@reroll/shared/api/operations';
import { Backoff } from '@reroll/kube/client/backoff';
import { KubeError } from '@reroll/kube/client/errors';
import type { ExchangeResult } from '@reroll/kube/client/transport';
import type { HttpRoute, RouteStream } from '../connect/http-route.ts';
import { CliError, EXIT } from '../errors.ts';
import { contentTypeOf, isOfAdmin, networkReason, problemError, wayError } from './answer-error.ts';
import { answerOf, httpCall, type AnswerOf, type HttpCall, type InputOf } from './operation.ts';
import { subjectOf } from './subject.ts';

export interface Way {
  readonly open: () => Promise<HttpRoute>;
}

/** Statuses after which the request is sent again. Writes carry an idempotency key, so they happen once. */
const TRANSIENT: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const ATTEMPTS = 3;
const MOST_DELAY_MS = 5_000;

export interface AdminApiOptions {
  /** In the order of attempts. The first that reaches an admin is kept. */
  readonly ways: readonly Way[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The client of the admin API, wherever the admin is. Every error is a `CliError`. */
export class AdminApi {
  readonly #options: AdminApiOptions;
  readonly #opened = new Set<HttpRoute>();
  #route: HttpRoute | undefined;

  constructor(options: AdminApiOptions) {
    this.#options = options;
  }

  async call<Id extends OperationId>(id: Id, input: InputOf<Id> = {}): Promise<AnswerOf<Id>> {
    const call = httpCall(id, input);
    const headers = headersOf(call);
    const result = await this.#persistently(() => this.#send(call, headers));
    if (result.status >= 300) throw problemError(result.status, result.text, subjectOf(input));
    return answerOf(id, result.text);
  }

  /** The stream of an operation: one attempt, on the route that was found. */
  async stream(
    id: OperationId,
    query: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<RouteStream> {
    const call = httpCall(id, { query });
    // Any response shows which route leads to the admin.
    if (this.#route === undefined) await this.call('getStatus');
    const route = this.#route;
    if (route === undefined) throw new CliError('the admin was not reached');
    const { timeoutMs, signal } = this.#options;
    try {
      return await route.stream({ path: call.path, headers, timeoutMs, signal });
    } catch (error) {
      if (isOfNetwork(error)) await this.#forget(route);
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened].map((route) => this.#forget(route)));
  }

  async #send(call: HttpCall, headers: Readonly<Record<string, string>>): Promise<ExchangeResult> {
    const { timeoutMs, signal } = this.#options;
    const request = { ...call, headers, timeoutMs, signal };
    if (this.#route !== undefined) return await this.#sendOn(this.#route, request);
    const refusals: string[] = [];
    for (const way of this.#options.ways) {
      const tried = await this.#try(way, request);
      if (typeof tried !== 'string') return tried;
      refusals.push(tried);
    }
    throw new CliError('the admin could not be reached', { hints: refusals, status: 'network' });
  }

  async #sendOn(route: HttpRoute, request: Parameters<HttpRoute['send']>[0]): Promise<ExchangeResult> {
    try {
      const result = await route.send(request);
      if (isOfAdmin(result.status, contentTypeOf(result)) || TRANSIENT.has(result.status)) return result;
      const { status } = result;
      throw new CliError(`${route.name} ${wayError(status, result.text)}`, { status });
    } catch (error) {
      if (!isOfNetwork(error)) throw error;
      await this.#forget(route);
      throw new CliError(`${route.name} ${networkReason(error)}`, { status: 'network' });
    }
  }

  /** A port-forward leads to one pod, which may be gone: the next request tries the ways again. */
  async #forget(route: HttpRoute): Promise<void> {
    if (this.#route === route) this.#route = undefined;
    this.#opened.delete(route);
    await route.close().catch(() => undefined);
  }

  /** The response, if it is the admin's; else what came instead. */
  async #try(way: Way, request: Parameters<HttpRoute['send']>[0]): Promise<ExchangeResult | string> {
    const route = await this.#open(way);
    if (typeof route === 'string') return route;
    const { name } = route;
    try {
      const result = await route.send(request);
      if (isOfAdmin(result.status, contentTypeOf(result))) {
        this.#route = route;
        return result;
      }
      await this.#forget(route);
      return `${name} ${wayError(result.status, result.text)}`;
    } catch (error) {
      if (isOfNetwork(error)) {
        await this.#forget(route);
        return `${name} ${networkReason(error)}`;
      }
      // Without a token, no other route helps.
      throw error;
    }
  }

  async #open(way: Way): Promise<HttpRoute | string> {
    try {
      const route = await way.open();
      this.#opened.add(route);
      return route;
    } catch (error) {
      const isFailure =
        error instanceof KubeError || (error instanceof CliError && error.exit === EXIT.failed);
      if (isFailure) return error.message;
      throw error;
    }
  }

  async #persistently(attempt: () => Promise<ExchangeResult>): Promise<ExchangeResult> {
    const backoff = new Backoff({ baseMs: 500, maxMs: MOST_DELAY_MS });
    for (let made = 1; ; made += 1) {
      const result = await attempt();
      if (!TRANSIENT.has(result.status) || made >= ATTEMPTS) return result;
      const asked = Number(result.headers['retry-after']) * 1_000;
      const delay = asked > 0 ? Math.min(asked, MOST_DELAY_MS) : backoff.next();
      await sleep(delay, undefined, { signal: this.#options.signal });
    }
  }
}

function headersOf({ method, body }: HttpCall): Record<string, string> {
  if (method === 'GET') return {};
  return {
    'idempotency-key': randomUUID(),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
}

/** Not of the credentials. */
function isOfNetwork(error: unknown): error is KubeError {
  return error instanceof KubeError && error.code !== 'KUBE_CREDENTIALS';
}
