import { Dispatcher } from 'undici';
import type { Owner, Scheduler } from '../scheduler.ts';
import type { Answer, ApiServer } from './api-server.ts';
import { parseRequest, type ApiRequest } from './api-request.ts';
import { connectionError, type OpenWatch } from './open-watch.ts';
import { faultStatus } from './status-error.ts';

/**
 * What happens to a request. With `unanswered…` the connection stays open and silent, until the client gives up.
 *
 * A status in `answered` is given without doing anything.
 */
export type Fate =
  | 'done'
  | 'refused'
  | 'cutBefore'
  | 'cutAfter'
  | 'unansweredBefore'
  | 'unansweredAfter'
  | { readonly answered: 409 | 410 | 422 | 429 | 500 | 503 | 504; readonly retryAfterSeconds?: number };

export interface Treatment {
  /** Milliseconds to the server, where the write is done. The client may have given up by then, or been killed. */
  readonly before: number;
  /** Milliseconds back. */
  readonly after: number;
  readonly fate: Fate;
}

/** Decides about each request. */
export type TreatRequest = (owner: Owner | undefined, request: ApiRequest, server: ApiServer) => Treatment;

export interface PoolContext {
  readonly scheduler: Scheduler;
  readonly owner: Owner | undefined;
  /** Asked for each request, so that a process can be moved to another server. */
  readonly server: () => ApiServer;
  readonly treat: TreatRequest;
  /** Called when a request is done or failed, with its status; 0: without an answer. */
  readonly onAnswer: (request: ApiRequest, owner: Owner | undefined, status: number) => void;
}

/** Connections of one process, behind undici's interface: what `KubeClientOptions.openPool` returns. */
export class SimulatedPool extends Dispatcher {
  readonly #context: PoolContext;
  readonly #exchanges = new Set<Exchange>();
  #isClosed = false;

  constructor(context: PoolContext) {
    super();
    this.#context = context;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (this.#isClosed) throw Object.assign(new Error('The client is closed'), { code: 'UND_ERR_CLOSED' });
    const exchange = new Exchange(this.#context, options, {
      handler,
      onOver: () => this.#exchanges.delete(exchange),
    });
    this.#exchanges.add(exchange);
    exchange.begin();
    return true;
  }

  /** Takes no more requests; those under way go on. */
  override close(callback?: () => void): Promise<void> {
    this.#isClosed = true;
    callback?.();
    return Promise.resolve();
  }

  override destroy(error?: Error | null | (() => void), callback?: () => void): Promise<void> {
    this.#isClosed = true;
    const closed = Object.assign(new Error('The client is destroyed'), { code: 'UND_ERR_DESTROYED' });
    const reason = error instanceof Error ? error : closed;
    for (const exchange of this.#exchanges) exchange.controller.abort(reason);
    (typeof error === 'function' ? error : callback)?.();
    return Promise.resolve();
  }
}

interface ExchangeEnd {
  readonly handler: Dispatcher.DispatchHandler;
  readonly onOver: () => void;
}

function textHeaders(headers: Dispatcher.DispatchOptions['headers']): Record<string, string> {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return {};
  return headers as Record<string, string>;
}

/** One request and its answer. */
class Exchange {
  readonly controller: Dispatcher.DispatchController;
  readonly #context: PoolContext;
  readonly #request: ApiRequest;
  readonly #end: ExchangeEnd;
  #isOver = false;
  #isPaused = false;
  #watch: OpenWatch | undefined;

  constructor(context: PoolContext, options: Dispatcher.DispatchOptions, end: ExchangeEnd) {
    this.#context = context;
    this.#end = end;
    const { method, path, body } = options;
    this.#request = parseRequest({
      method,
      path,
      headers: textHeaders(options.headers),
      body: typeof body === 'string' ? body : '',
    });
    this.controller = this.#newController();
  }

  begin(): void {
    const { treat, owner, scheduler } = this.#context;
    this.#end.handler.onRequestStart?.(this.controller, null);
    if (this.#isOver) return;
    const server = this.#context.server();
    const { before, after, fate } = treat(owner, this.#request, server);
    if (fate === 'refused' || server.isDown)
      return void scheduler.after(before, owner, () => this.#fail(connectionError('ECONNREFUSED')));
    if (fate === 'cutBefore')
      return void scheduler.after(before, owner, () => this.#fail(connectionError('ECONNRESET')));
    if (fate === 'unansweredBefore') return;
    scheduler.after(before, undefined, () => this.#serve(server, { after, fate }));
  }

  #serve(server: ApiServer, { after, fate }: Pick<Treatment, 'after' | 'fate'>): void {
    const { owner, scheduler } = this.#context;
    const { starts } = server;
    if (server.isDown)
      return void scheduler.after(after, owner, () => this.#fail(connectionError('ECONNRESET')));
    const respond = (answer: Answer): void => {
      if (fate === 'unansweredAfter' || this.#isOver) return;
      scheduler.after(after, owner, () => {
        if (fate === 'cutAfter' || server.isDown || server.starts !== starts)
          this.#fail(connectionError('ECONNRESET'));
        else this.#answer(answer);
      });
    };
    if (typeof fate === 'object') respond(server.failed(faultStatus(fate.answered, fate.retryAfterSeconds)));
    else server.handle(this.#request, owner, respond);
  }

  #answer({ status, headers, body, watch }: Answer): void {
    if (this.#isOver) return;
    const { handler } = this.#end;
    this.#context.onAnswer(this.#request, this.#context.owner, status);
    handler.onResponseStart?.(this.controller, status, headers);
    if (watch !== undefined) {
      this.#watch = watch({
        isPaused: () => this.#isPaused,
        onData: (chunk) => handler.onResponseData?.(this.controller, chunk),
        onEnd: () => this.#finish(),
        onError: (error) => this.#fail(error),
      });
      return;
    }
    if (body.length > 0) handler.onResponseData?.(this.controller, body);
    this.#finish();
  }

  #finish(): void {
    if (this.#over()) this.#end.handler.onResponseEnd?.(this.controller, {});
  }

  #fail(error: Error): void {
    const isBegun = this.#watch !== undefined;
    if (!this.#over()) return;
    if (!isBegun) this.#context.onAnswer(this.#request, this.#context.owner, 0);
    this.#end.handler.onResponseError?.(this.controller, error);
  }

  /** False if it was over before. */
  #over(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#watch?.abandon();
    this.#end.onOver();
    return true;
  }

  #newController(): Dispatcher.DispatchController {
    const isOver = (): boolean => this.#isOver;
    const isPaused = (): boolean => this.#isPaused;
    return {
      get aborted() {
        return isOver();
      },
      get paused() {
        return isPaused();
      },
      get reason() {
        return null;
      },
      abort: (reason) => this.#fail(reason),
      pause: () => {
        this.#isPaused = true;
      },
      resume: () => {
        this.#isPaused = false;
        this.#watch?.resume();
      },
    };
  }
}
