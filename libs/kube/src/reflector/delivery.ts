import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorClass } from '../client/errors.ts';
import { nameOf, type KubeObject } from '../objects.ts';
import type { ChangeType } from './watch-stream.ts';

/** What shows an object: a list, or an event of the watch. */
export type ShownBy = 'list' | Exclude<ChangeType, 'DELETED'>;

/**
 * What follows a collection, like a store of client-go. A reflector calls it in order, one call at a time. A method may
 * be asynchronous: the stream then waits for it. Each may be called twice for the same thing and must come to the same end.
 */
export interface EventHandler<T> {
  /**
   * A complete list begins, which is to replace what is known. Its objects follow in portions by `upsert`, so that it is
   * never held whole. If it breaks, this is called again without a `synced` before.
   */
  replace(): void | Promise<void>;
  /**
   * At most 100 objects of the list, or one that was created or written. An object may come again in the same list: the
   * later one stands.
   */
  upsert(objects: readonly T[], by: ShownBy): void | Promise<void>;
  /** It was deleted; also while a list still streams, in which it may have been. */
  delete(object: T): void | Promise<void>;
  /**
   * The list is complete as of `resourceVersion`: what was not in it does not exist, except for `unread`
   * (`<namespace>/<name>`), which exist but made `convert` or `upsert` throw.
   */
  synced(resourceVersion: string, unread: readonly string[]): void | Promise<void>;
}

/** A throw of the handler's or of `convert`: what, where, and the error's class, never its message. */
export interface HandlerFailure {
  /** `<namespace>/<name>`; '' if it was not about one object. */
  readonly key: string;
  readonly step: 'convert' | 'listStarted' | 'listed' | 'listEnded' | 'changed';
  readonly errorClass: string;
}

export interface DeliveryOptions<T> {
  readonly handler: EventHandler<T>;
  readonly convert: (raw: KubeObject) => T;
  readonly onFailure: (failure: HandlerFailure) => void;
}

/** Objects of a list that are handed over in one turn of the event loop. */
const BATCH = 100;

type Outcome = void | Promise<void>;

/** Runs `step`; `onError` gets what it throws or rejects with. Synchronous if both are. */
function guarded(step: () => Outcome, onError: (error: unknown) => Outcome): Outcome {
  try {
    const pending = step();
    return pending instanceof Promise ? pending.catch(onError) : undefined;
  } catch (error) {
    return onError(error);
  }
}

/** Other streams, and timers, have their turn. */
async function afterATurn(pending: Outcome): Promise<void> {
  await pending;
  await nextTurn();
}

/**
 * Converts raw objects and hands them to the handler so that one bad object harms only itself: its failure
 * is reported and the stream goes on.
 */
export class Delivery<T> {
  readonly #options: DeliveryOptions<T>;
  #objects: T[] = [];
  #keys: string[] = [];
  #unread: string[] = [];

  constructor(options: DeliveryOptions<T>) {
    this.#options = options;
  }

  /** Throws (after reporting) what the handler throws: without its start there is no list. */
  async listStarted(): Promise<void> {
    this.#objects = [];
    this.#keys = [];
    this.#unread = [];
    await this.#whole('listStarted', () => this.#options.handler.replace());
  }

  /** One object of a list. */
  listed(raw: KubeObject): Outcome {
    const key = nameOf(raw);
    try {
      this.#objects.push(this.#options.convert(raw));
      this.#keys.push(key);
    } catch (error) {
      this.#unread.push(key);
      this.#report({ key, step: 'convert' }, error);
    }
    return this.#objects.length >= BATCH ? this.flush() : undefined;
  }

  /** Hands over what is collected. A batch that fails is given again object by object, to find the bad one. */
  flush(): Outcome {
    const objects = this.#objects;
    const keys = this.#keys;
    if (objects.length === 0) return undefined;
    this.#objects = [];
    this.#keys = [];
    const told = guarded(
      () => this.#options.handler.upsert(objects, 'list'),
      () => this.#oneByOne(objects, keys),
    );
    return afterATurn(told);
  }

  /** Throws (after reporting) what the handler throws: its list is not complete then. */
  async listEnded(resourceVersion: string): Promise<void> {
    await this.flush();
    const unread = this.#unread;
    await this.#whole('listEnded', () => this.#options.handler.synced(resourceVersion, unread));
  }

  changed(raw: KubeObject, type: ChangeType): Outcome {
    let object: T;
    try {
      object = this.#options.convert(raw);
    } catch (error) {
      this.#report({ key: nameOf(raw), step: 'convert' }, error);
      return undefined;
    }
    const { handler } = this.#options;
    return guarded(
      () => (type === 'DELETED' ? handler.delete(object) : handler.upsert([object], type)),
      (error) => this.#report({ key: nameOf(raw), step: 'changed' }, error),
    );
  }

  async #oneByOne(objects: readonly T[], keys: readonly string[]): Promise<void> {
    for (const [index, object] of objects.entries()) {
      const key = keys[index] ?? '';
      try {
        await this.#options.handler.upsert([object], 'list');
      } catch (error) {
        this.#unread.push(key);
        this.#report({ key, step: 'listed' }, error);
      }
    }
  }

  async #whole(step: 'listStarted' | 'listEnded', run: () => Outcome): Promise<void> {
    try {
      await run();
    } catch (error) {
      this.#report({ key: '', step }, error);
      throw error;
    }
  }

  #report(where: Pick<HandlerFailure, 'key' | 'step'>, error: unknown): void {
    this.#options.onFailure({ ...where, errorClass: errorClass(error) });
  }
}
