/** Who gets alerts and webhooks, behind the interface of undici that a worker posts through. */
import { Dispatcher } from 'undici';
import { connectionError } from './api/open-watch.ts';
import type { Owner, Scheduler } from './scheduler.ts';

/** What happens to a post. `lost` and `unanswered` are received, without the sender learning of it. */
export type PostFate = 'done' | 'refused' | 'failed' | 'lost' | 'unanswered';

export interface ReceiverBy {
  readonly scheduler: Scheduler;
  /** Milliseconds to the receiver and back, and what happens. */
  readonly treat: () => { before: number; after: number; fate: PostFate };
  /** `isAnswered`: the sender learns of it, and does not repeat the post. */
  readonly received: (path: string, body: string, isAnswered: boolean) => void;
}

/** Connections of one process. */
export class ReceiverPool extends Dispatcher {
  readonly #by: ReceiverBy;
  readonly #owner: Owner;
  readonly #posts = new Set<Post>();

  constructor(by: ReceiverBy, owner: Owner) {
    super();
    this.#by = by;
    this.#owner = owner;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const post = new Post(handler, () => this.#posts.delete(post));
    this.#posts.add(post);
    const { scheduler, treat, received } = this.#by;
    const { before, after, fate } = treat();
    if (fate === 'refused') {
      scheduler.after(before, this.#owner, () => post.fail(connectionError('ECONNREFUSED')));
      return true;
    }
    scheduler.after(before, undefined, () => {
      const body = typeof options.body === 'string' ? options.body : '';
      if (fate !== 'failed') received(options.path, body, fate === 'done');
      if (fate === 'unanswered') return;
      scheduler.after(after, this.#owner, () => {
        if (fate === 'lost') post.fail(connectionError('ECONNRESET'));
        else post.answer(fate === 'failed' ? 503 : 200);
      });
    });
    return true;
  }

  override close(callback?: () => void): Promise<void> {
    callback?.();
    return Promise.resolve();
  }

  override destroy(error?: Error | null | (() => void), callback?: () => void): Promise<void> {
    for (const post of this.#posts) post.fail(connectionError('ECONNRESET'));
    (typeof error === 'function' ? error : callback)?.();
    return Promise.resolve();
  }
}

class Post {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #onOver: () => void;
  readonly #controller: Dispatcher.DispatchController;
  #isOver = false;

  constructor(handler: Dispatcher.DispatchHandler, onOver: () => void) {
    this.#handler = handler;
    this.#onOver = onOver;
    const isOver = (): boolean => this.#isOver;
    this.#controller = {
      get aborted() {
        return isOver();
      },
      paused: false,
      reason: null,
      abort: (reason) => this.fail(reason),
      pause: () => undefined,
      resume: () => undefined,
    };
    handler.onRequestStart?.(this.#controller, null);
  }

  answer(status: number): void {
    if (!this.#over()) return;
    this.#handler.onResponseStart?.(this.#controller, status, {});
    this.#handler.onResponseEnd?.(this.#controller, {});
  }

  fail(error: Error): void {
    if (this.#over()) this.#handler.onResponseError?.(this.#controller, error);
  }

  /** False if it was over before. */
  #over(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#onOver();
    return true;
  }
}
