import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorClass } from '../client/errors.ts';
import { nameOf, type KubeObject } from '../objects.ts';
import type { ChangeType } from './watch-stream.ts';

/** How an object was shown: by a list, or by an event of the watch. */
export type ShownBy = 'list' | Exclude<ChangeType, 'DELETED'>;

/**
 * Receives a collection, like a store of client-go. A reflector makes one call at a time, in order. A method may be asynchronous;
 * the stream then waits. Methods must be idempotent, because each may be called twice for the same thing.
 */
export interface EventHandler<T> {
  /**
   * A complete list begins, which replaces everything known. Its objects follow by `upsert` in portions, so that the list is never
   * in memory as a whole. If the list breaks, `replace` is called again without `synced`.
   */
  replace(): void | Promise<void>;
  /**
   * At most 100 objects of the list, or one that was created or written. If an object comes twice in a list, the later one counts.
   */
  upsert(objects: readonly T[], by: ShownBy): void | Promise<void>;
  /** The object was deleted. May be called while a list that contained the object still streams. */
  delete(object: T): void | Promise<void>;
  /**
   * The list is complete as of `resourceVersion`. Objects that were not in it do not exist, except `unread` (`<namespace>/<name>`):
   * they exist, but `convert` or `upsert` threw.
   */
  synced(resourceVersion: string, unread: readonly string[]): void | Promise<void>;
}

/** An exception of the handler or of `convert`: what, where and the error's class, never its message. */
export interface HandlerFailure {
  /** `<namespace>/<name>`; '' if the failure is not about one object. */
  readonly key: string;
  readonly step: 'convert' | 'listStarted' | 'listed' | 'listEnded' | 'changed';
  readonly errorClass: string;
}

export interface DeliveryOptions<T> {
  readonly handler: EventHandler<T>;
  readonly convert: (raw: KubeObject, by: 'list' | ChangeType) => T;
  readonly onFailure: (failure: HandlerFailure) => void;
}

/** Objects of a list handed over in one turn of the event loop. */
const BATCH = 100;

type Outcome = void | Promise<void>;

/** Runs `step` and passes what it throws or rejects with to `onError`. Synchronous if both are. */
function guarded(step: () => Outcome, onError: (error: unknown) => Outcome): Outcome {
  try {
    const pending = step();
    return pending instanceof Promise ? pending.catch(onError) : undefined;
  } catch (error) {
    return onError(error);
  }
}

/** Lets other streams and timers run. */
async function afterATurn(pending: Outcome): Promise<void> {
  await pending;
  await nextTurn();
}

/**
 * Converts raw objects and hands them to the handler. A bad object harms only itself: its failure is reported, and the stream
 * continues.
 */
export class Delivery<T> {
  readonly #options: DeliveryOptions<T>;
  #objects: T[] = [];
  #keys: string[] = [];
  #unread: string[] = [];

  constructor(options: DeliveryOptions<T>) {
    this.#options = options;
  }

  /** Reports and rethrows what the handler throws, because the list cannot begin without it. */
  async listStarted(): Promise<void> {
    this.#objects = [];
    this.#keys = [];
    this.#unread = [];
    await this.#whole('listStarted', () => this.#options.handler.replace());
  }

  listed(raw: KubeObject): Outcome {
    const key = nameOf(raw);
    try {
      this.#objects.push(this.#options.convert(raw, 'list'));
      this.#keys.push(key);
    } catch (error) {
      this.#unread.push(key);
      this.#report({ key, step: 'convert' }, error);
    }
    return this.#objects.length >= BATCH ? this.flush() : undefined;
  }

  /** Hands over the collected objects. A batch that fails is repeated object by object, to find the bad one. */
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

  /** Reports and rethrows what the handler throws, because its list is then not complete. */
  async listEnded(resourceVersion: string): Promise<void> {
    await this.flush();
    const unread = this.#unread;
    await this.#whole('listEnded', () => this.#options.handler.synced(resourceVersion, unread));
  }

  changed(raw: KubeObject, type: ChangeType): Outcome {
    let object: T;
    try {
      object = this.#options.convert(raw, type);
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
