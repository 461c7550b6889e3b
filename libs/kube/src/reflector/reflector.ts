import type { BackoffOptions } from '../client/backoff.ts';
import { pause, systemClock, type Clock } from '../client/clock.ts';
import type { KubeClient, Query } from '../client/connection.ts';
import { Delivery, type EventHandler, type HandlerFailure } from './delivery.ts';
import { KubeError } from '../client/errors.ts';
import { listPages } from './list-pages.ts';
import type { KubeObject } from '../objects.ts';
import { ReconnectDelay } from './reconnect-delay.ts';
import { NOT_A_WATCH, readWatch, type ChangeType, type WatchEnd, type WatchEvent } from './watch-stream.ts';

/** Why a watch ended, or why a list began. */
export type ReconnectReason = WatchEnd | 'failed';
export type RelistReason = 'first' | 'gone' | 'broken' | 'handler' | 'silent' | 'ended' | 'changed';

/** Callbacks for metrics and logs. They must not throw. */
export interface ReflectorHooks {
  /**
   * A list begins. `first` is the one after the start; `broken` repeats one that failed; `ended` follows a watch that is not to be
   * resumed; `changed`: see `ReflectorOptions.connecting`.
   */
  onRelist?(reason: RelistReason): void;
  /** The list is complete and handed over. */
  onListed?(list: { objects: number; streamed: boolean; durationMs: number }): void;
  /** A watch ended and is resumed where it ended. */
  onReconnect?(reason: ReconnectReason): void;
  /**
   * A list or watch failed; the next attempt follows after `delayMs`. `attempt` counts consecutive 410s or consecutive other
   * failures.
   */
  onFailure?(error: KubeError, next: { attempt: number; delayMs: number }): void;
  onHandlerError?(failure: HandlerFailure): void;
  onSynced?(synced: boolean): void;
}

export interface ReflectorOptions<T> {
  readonly client: Pick<KubeClient, 'get' | 'stream'>;
  /** The collection: `collectionPath(resource, namespace?)`. */
  readonly path: string;
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
  /**
   * Called before each list and each watch. If it resolves with true, the server shows objects in another form from now on, and a watch is
   * not resumed: list again. If it rejects with a `KubeError`, the connection has failed.
   */
  readonly connecting?: ((signal: AbortSignal) => Promise<boolean>) | undefined;
  /** Reduces an object to the facts that are kept; the raw object (in lists without `kind` and `apiVersion`) is then dropped. */
  readonly convert: (raw: KubeObject, by: 'list' | ChangeType) => T;
  readonly handler: EventHandler<T>;
  readonly hooks?: ReflectorHooks | undefined;
  /**
   * A watch that is silent for this long is cut and resumed. Default 100 s: API servers send a bookmark every 60 to 75 s, so a live
   * watch is never silent for that long.
   */
  readonly silenceMs?: number | undefined;
  /**
   * True (the default): a watch that ended is resumed where it ended. False: list again. Use false where nothing else notices an etcd
   * that was restored to an earlier state (docs/adr/0027).
   */
  readonly resumes?: boolean | undefined;
  /** True (the default): stream lists if the server supports it (WatchList). False: always list in pages. */
  readonly streamedLists?: boolean | undefined;
  /** Objects in a page. Default 100. */
  readonly pageSize?: number | undefined;
  /** Delays between connections. Default 250 ms, doubling up to 10 s. */
  readonly backoff?: BackoffOptions | undefined;
  /** The shortest delay after a 403. Default: as after any other failure. */
  readonly refusedMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

export interface ReflectorStatus {
  /** A complete list was handed over, and the watch has continued it without a gap. */
  readonly synced: boolean;
  /** Whether a watch is open now. */
  readonly connected: boolean;
  /** When the server last sent anything, including bookmarks, by `Date.now()`; 0: never. */
  readonly lastEventAt: number;
  /** Lists begun after the first one. */
  readonly relists: number;
  readonly reconnects: number;
  readonly handlerErrors: number;
  /** Where a reconnect would resume; undefined: it would list. */
  readonly resourceVersion: string | undefined;
}

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
/** A watch that lasted this long was healthy, so the next failure counts as the first. */
const HEALTHY_MS = 5000;
/** Consecutive silences at one resourceVersion after which it is doubted (an etcd restored from a backup). */
const MAX_SILENCES = 3;
/**
 * Objects in a page. The number grows if a list takes longer than the server keeps its history, and shrinks if a page is too large.
 */
const PAGE_SIZE = 100;
/** Answers of servers without streamed lists; current versions answer with 422. */
const REFUSALS: ReadonlySet<number> = new Set([400, 405, 406, 415, 422, 501]);

interface WatchHooks {
  readonly onEvent: (event: WatchEvent) => void | Promise<void>;
  readonly onOpen?: () => void;
}

/** The result of one connection. `listed`: the pages are done, and the watch can begin. */
type CycleEnd = WatchEnd | 'listed';

/**
 * Follows one collection for ever: lists it and watches it from there. After an interruption it resumes at the last
 * resourceVersion, or lists again if the server no longer has that. It never gives up.
 *
 * 1. List, streamed (the same connection then continues as the watch) or in pages.
 * 2. Watch from the list's resourceVersion; every event and bookmark advances it.
 * 3. After a 410 (status or event), or without `resumes`, repeat 1; after any other end, repeat 2. Wait first after a failure.
 */
export class Reflector<T> {
  readonly #options: ReflectorOptions<T>;
  readonly #clock: Clock;
  readonly #hooks: ReflectorHooks;
  readonly #delivery: Delivery<T>;
  readonly #delay: ReconnectDelay;
  readonly #stopping = new AbortController();
  readonly #waiters = new Set<(synced: boolean) => void>();
  #loop: Promise<void> | undefined;
  /** Where to resume; undefined if a list is needed. Advances only after the handler has taken the event. */
  #resourceVersion: string | undefined;
  #relistReason: RelistReason = 'first';
  #streamed: boolean;
  #pageSize: number;
  /** A page with more objects than this was too large. */
  #largestPage = Infinity;
  #synced = false;
  /** When the open watch (past its list) began; undefined if none is open. */
  #watchingSince: number | undefined;
  #silences = 0;
  #listedObjects = 0;
  #listBegan = 0;
  #lastEventAt = 0;
  #relists = 0;
  #reconnects = 0;
  #handlerErrors = 0;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#hooks = options.hooks ?? {};
    this.#streamed = options.streamedLists ?? true;
    this.#pageSize = options.pageSize ?? PAGE_SIZE;
    this.#delay = new ReconnectDelay(options.backoff);
    this.#delivery = new Delivery({
      handler: options.handler,
      convert: options.convert,
      onFailure: (failure) => {
        this.#handlerErrors += 1;
        this.#hooks.onHandlerError?.(failure);
      },
    });
  }

  get status(): ReflectorStatus {
    return {
      synced: this.#synced,
      connected: this.#watchingSince !== undefined,
      lastEventAt: this.#lastEventAt,
      relists: this.#relists,
      reconnects: this.#reconnects,
      handlerErrors: this.#handlerErrors,
      resourceVersion: this.#resourceVersion,
    };
  }

  /** Begins with the first list. Further calls do nothing, even after `stop`. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** Ends the stream. Resolves when no call of the handler is under way, or after `timeoutMs` if the handler does not finish. */
  async stop(timeoutMs = 5000): Promise<void> {
    this.#stopping.abort();
    for (const waiter of this.#waiters) waiter(false);
    let cancel = (): void => undefined;
    const deadline = new Promise<void>((resolve) => (cancel = this.#clock.after(timeoutMs, resolve)));
    await Promise.race([this.#loop, deadline]);
    cancel();
  }

  /** Resolves with true once `status.synced` holds; with false after `timeoutMs` or on `stop`. */
  waitSynced(timeoutMs: number): Promise<boolean> {
    if (this.#synced) return Promise.resolve(true);
    if (this.#stopping.signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (synced: boolean): void => {
        cancel();
        this.#waiters.delete(settle);
        resolve(synced);
      };
      const cancel = this.#clock.after(timeoutMs, () => settle(false));
      this.#waiters.add(settle);
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const delayMs = await this.#connection();
      this.#watchingSince = undefined;
      if (delayMs > 0) await pause(this.#clock, delayMs, signal);
    }
  }

  /** Runs one connection from its start to its end. Returns the delay before the next one. */
  async #connection(): Promise<number> {
    try {
      const end = await this.#cycle();
      if (this.#wasHealthy()) this.#delay.reset();
      return this.#afterEnd(end);
    } catch (error) {
      if (this.#wasHealthy()) this.#delay.reset();
      return this.#stopping.signal.aborted ? 0 : this.#afterFailure(error);
    }
  }

  async #cycle(): Promise<CycleEnd> {
    const isChanged = await this.#options.connecting?.(this.#stopping.signal);
    if (isChanged === true && this.#resourceVersion !== undefined) this.#forget('changed');
    return this.#resourceVersion === undefined ? this.#list() : this.#watch();
  }

  async #list(): Promise<CycleEnd> {
    this.#listBegan = this.#clock.now();
    if (this.#relistReason !== 'first') this.#relists += 1;
    this.#hooks.onRelist?.(this.#relistReason);
    if (this.#streamed) {
      const end = await this.#streamList();
      if (end !== undefined) return end;
      this.#streamed = false;
    }
    await this.#pagedList();
    return 'listed';
  }

  #afterEnd(end: CycleEnd): number {
    if (end === 'listed') return 0;
    this.#silences = end === 'silent' ? this.#silences + 1 : 0;
    if (this.#silences >= MAX_SILENCES) {
      this.#silences = 0;
      this.#forget('silent');
      return this.#delay.next({ gone: false }).delayMs;
    }
    this.#resume(end);
    // Pauses before the next request, in case the server closes every watch at once.
    return end === 'silent' || this.#wasHealthy() ? 0 : this.#delay.next({ gone: false }).delayMs;
  }

  #afterFailure(error: unknown): number {
    const gone = error instanceof KubeError && isGone(error);
    const next = this.#delay.next({ gone });
    if (!(error instanceof KubeError)) {
      // The handler threw in `replace` or `synced`; this is already reported.
      this.#forget('handler');
      return next.delayMs;
    }
    const delayMs = Math.max(next.delayMs, this.#leastDelay(error));
    this.#hooks.onFailure?.(error, { attempt: next.attempt, delayMs });
    if (isTooLarge(error)) {
      this.#largestPage = Math.max(1, Math.floor(this.#pageSize / 4));
      this.#pageSize = this.#largestPage;
    }
    if (gone) {
      if (this.#resourceVersion === undefined)
        this.#pageSize = Math.min(this.#pageSize * 4, this.#largestPage);
      this.#forget('gone');
    } else if (this.#resourceVersion === undefined) {
      this.#forget('broken');
    } else {
      this.#resume('failed');
    }
    return delayMs;
  }

  #leastDelay({ status, retryAfterMs = 0 }: KubeError): number {
    const { refusedMs = 0 } = this.#options;
    return status === 403 ? Math.max(retryAfterMs, refusedMs) : retryAfterMs;
  }

  #wasHealthy(): boolean {
    return this.#watchingSince !== undefined && this.#clock.now() - this.#watchingSince >= HEALTHY_MS;
  }

  #resume(reason: ReconnectReason): void {
    if (this.#options.resumes === false) return this.#forget('ended');
    this.#reconnects += 1;
    this.#hooks.onReconnect?.(reason);
  }

  #forget(reason: RelistReason): void {
    this.#resourceVersion = undefined;
    this.#relistReason = reason;
    this.#setSynced(false);
  }

  #watch(): Promise<WatchEnd> {
    const onOpen = (): void => {
      this.#watchingSince = this.#clock.now();
    };
    return this.#read(
      { resourceVersion: this.#resourceVersion },
      { onOpen, onEvent: (event) => this.#onEvent(event) },
    );
  }

  /**
   * Lists by a watch that begins with all existing objects, and continues as the watch until the stream ends. Returns undefined if
   * the server does not support such lists: it refused, or it ended or fell silent without marking the list as complete.
   */
  async #streamList(): Promise<WatchEnd | undefined> {
    await this.#listStarted();
    const query = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
    const onEvent = (event: WatchEvent): void | Promise<void> =>
      this.#resourceVersion === undefined ? this.#onListEvent(event) : this.#onEvent(event);
    try {
      const end = await this.#read(query, { onEvent });
      return this.#resourceVersion === undefined ? undefined : end;
    } catch (error) {
      if (this.#isRefusal(error)) return undefined;
      throw error;
    }
  }

  #isRefusal(error: unknown): boolean {
    if (!(error instanceof KubeError) || this.#resourceVersion !== undefined) return false;
    return REFUSALS.has(error.status) || error.reason === NOT_A_WATCH;
  }

  async #pagedList(): Promise<void> {
    await this.#listStarted();
    const { client, path } = this.#options;
    const list = {
      client,
      path,
      query: this.#selectors(),
      pageSize: this.#pageSize,
      signal: this.#stopping.signal,
    };
    const resourceVersion = await listPages(list, async (items) => {
      this.#heard();
      for (const item of items) {
        this.#listedObjects += 1;
        const pending = this.#delivery.listed(item as KubeObject);
        if (pending !== undefined) await pending;
      }
      await this.#delivery.flush();
    });
    await this.#listEnded(resourceVersion, false);
  }

  #listStarted(): Promise<void> {
    this.#listedObjects = 0;
    return this.#delivery.listStarted();
  }

  #onListEvent({ type, object }: WatchEvent): void | Promise<void> {
    this.#heard();
    if (type === 'DELETED') return this.#deletedWhileListing(object);
    if (type !== 'BOOKMARK') {
      this.#listedObjects += 1;
      return this.#delivery.listed(object);
    }
    const ended = object.metadata.annotations?.[INITIAL_EVENTS_END] === 'true';
    return ended ? this.#listEnded(object.metadata.resourceVersion, true) : undefined;
  }

  async #deletedWhileListing(object: KubeObject): Promise<void> {
    await this.#delivery.flush();
    await this.#delivery.changed(object, 'DELETED');
  }

  async #listEnded(resourceVersion: string, streamed: boolean): Promise<void> {
    await this.#delivery.listEnded(resourceVersion);
    const durationMs = this.#clock.now() - this.#listBegan;
    this.#hooks.onListed?.({ objects: this.#listedObjects, streamed, durationMs });
    this.#resourceVersion = resourceVersion;
    this.#pageSize = Math.min(this.#options.pageSize ?? PAGE_SIZE, this.#largestPage);
    if (streamed) this.#watchingSince = this.#clock.now();
    this.#setSynced(true);
  }

  #onEvent({ type, object }: WatchEvent): void | Promise<void> {
    this.#heard();
    const { resourceVersion } = object.metadata;
    const pending = type === 'BOOKMARK' ? undefined : this.#delivery.changed(object, type);
    const moveOn = (): void => {
      this.#resourceVersion = resourceVersion;
    };
    return pending === undefined ? moveOn() : pending.then(moveOn);
  }

  #heard(): void {
    this.#lastEventAt = Date.now();
    this.#silences = 0;
  }

  #read(query: Query, hooks: WatchHooks): Promise<WatchEnd> {
    const { client, path, silenceMs = 100_000 } = this.#options;
    // Between 5 and 10 minutes, so that the watches of many clients do not end together.
    const timeoutSeconds = 300 + Math.floor(Math.random() * 300);
    const common = { watch: 1, allowWatchBookmarks: true, timeoutSeconds, ...this.#selectors() };
    const { onEvent, onOpen } = hooks;
    const connection = { client, path, silenceMs, clock: this.#clock, signal: this.#stopping.signal };
    return readWatch({ ...connection, query: { ...common, ...query }, onOpen }, onEvent);
  }

  #selectors(): Query {
    const { fieldSelector, labelSelector } = this.#options;
    return { fieldSelector, labelSelector };
  }

  #setSynced(synced: boolean): void {
    if (this.#synced === synced) return;
    this.#synced = synced;
    this.#hooks.onSynced?.(synced);
    if (synced) for (const waiter of this.#waiters) waiter(true);
  }
}

/** The server no longer has the requested history: HTTP status 410, or an ERROR event with it. */
/** The answer exceeds the size limit. */
function isTooLarge({ code, reason }: KubeError): boolean {
  return code === 'KUBE_BAD_RESPONSE' && reason === 'TooLarge';
}

function isGone(error: KubeError): boolean {
  return error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone';
}
