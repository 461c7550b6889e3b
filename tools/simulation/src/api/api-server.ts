import type { Owner, Scheduler } from '../scheduler.ts';
import { keyOf, type Form, type Version } from './api-object.ts';
import { changeObject } from './change-object.ts';
import type { ApiRequest, Target } from './api-request.ts';
import { documentOf, versionJson } from './discovery.ts';
import type { Change, Etcd } from './etcd.ts';
import {
  listSource,
  pageJson,
  requireListOptions,
  selectionOf,
  versionOf,
  type ListSource,
} from './lists.ts';
import { OpenWatch, type EventType, type WatchCut, type WatchSink } from './open-watch.ts';
import { RESOURCE_TYPES, type ResourceType } from './resource-types.ts';
import {
  expired,
  faultStatus,
  methodNotAllowed,
  notFound,
  StatusError,
  tooLargeVersion,
} from './status-error.ts';
import { WatchCache } from './watch-cache.ts';
import type { Writes } from './writes.ts';

/** The answer to a request: a body, or a watch that begins. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Begins the watch; set only with status 200. */
  readonly watch?: (sink: WatchSink) => OpenWatch;
}

export type Respond = (answer: Answer) => void;

/** What all servers of a cluster share. */
export interface Cluster {
  readonly scheduler: Scheduler;
  readonly etcd: Etcd;
  readonly writes: Writes;
  readonly isServed: (type: ResourceType) => boolean;
  /** A request that no rule covers. */
  readonly onUnknown: (request: ApiRequest, status: number) => void;
  readonly eventLatency: (watch: OpenWatch, type: EventType) => number;
}

/** How long a request waits for the cache to reach its resourceVersion. */
const FRESHNESS_MS = 3_000;
/** How long a request waits for etcd. */
const REQUEST_MS = 60_000;
/** Statuses of requests that no rule covers, or that nobody should send. */
const UNKNOWN: ReadonlySet<number> = new Set([400, 405, 406, 415]);
const NAMED = /(^|,)metadata\.name==?[^,]/;
const BOOKMARK_MS = 60_000;
const BOOKMARK_SPREAD_MS = 15_000;
/** The shortest time of a watch without `timeoutSeconds`; the longest is twice that. */
const WATCH_SECONDS = 1_800;

/**
 * One API server: it serves watches, and reads that may be old, from caches of its own, and everything else from etcd. Its
 * caches may lag behind etcd, and it may be cut off from it.
 */
export class ApiServer {
  readonly name: string;
  /**
   * Milliseconds by which the cache of a type lags behind etcd. Applies to later writes. `Infinity`: the cache gets nothing until
   * `catchUp`.
   */
  lag: (type: ResourceType) => number = () => 0;
  /** Milliseconds by which its clock is ahead. */
  clockSkew = 0;
  /** Whether it is of a later version, which serves pod templates in another form, though nobody wrote them. */
  isUpgraded = false;
  /** Whether it knows `sendInitialEvents`. */
  isWatchListKnown = true;
  readonly #cluster: Cluster;
  readonly #watches = new Set<OpenWatch>();
  #caches = new Map<ResourceType, WatchCache>();
  #isCutOff = false;
  #isDown = false;
  #starts = 0;
  /** Requests that wait for etcd. */
  #waiting: (() => void)[] = [];
  #dateAt = -1;
  #date = '';

  constructor(name: string, cluster: Cluster) {
    this.name = name;
    this.#cluster = cluster;
    this.#fill();
  }

  /** The watches that clients have open here. */
  get watches(): readonly OpenWatch[] {
    return [...this.#watches].filter((watch) => watch.isOpen);
  }

  /** Whether it refuses connections. */
  get isDown(): boolean {
    return this.#isDown;
  }

  /** How often it has begun: an answer of an earlier time breaks off. */
  get starts(): number {
    return this.#starts;
  }

  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  /** The revision whose state the cache of a type has. */
  positionOf(type: ResourceType): number {
    return this.#cacheOf(type).position;
  }

  /** From now on it gets no writes from etcd, and what needs etcd waits, at most for 60 s. Caches and watches go on, older and older. */
  cutOff(): void {
    this.#isCutOff = true;
  }

  /** Ends a cut: what was missed arrives now, in order. */
  reconnect(): void {
    this.#isCutOff = false;
    this.catchUp();
    for (const run of this.#waiting.splice(0)) run();
  }

  /** What was on its way to the caches arrives now, unless the server is cut off. Without a type: to all of them. */
  catchUp(type?: ResourceType): void {
    if (this.#isCutOff) return;
    const caches = type === undefined ? this.#caches.values() : [this.#cacheOf(type)];
    for (const cache of caches) this.#drain(cache, Infinity);
  }

  /** Refuses connections from now on, and cuts those that are open. */
  stop(): void {
    this.#isDown = true;
    this.cutWatches('reset');
  }

  /** Accepts connections again, after a stop, with caches that begin now. */
  start(): void {
    this.#isDown = false;
    this.#fill();
  }

  /** Cuts all watches, and reads its caches from etcd again: watches from earlier than now get a 410. */
  restart(): void {
    this.cutWatches('reset');
    this.#fill();
  }

  /** Without a type: all of them. */
  cutWatches(how: WatchCut, type?: ResourceType): void {
    for (const watch of this.watches) if (type === undefined || watch.type === type) watch.cut(how);
  }

  /** Drops the history of its caches: watches from earlier than now get a 410. */
  forgetHistory(): void {
    for (const cache of this.#caches.values()) cache.forgetHistory();
  }

  /** Cuts the watches of a type and drops its history: they cannot be resumed. */
  expire(type: ResourceType): void {
    this.#cacheOf(type).forgetHistory();
    this.cutWatches('reset', type);
  }

  /** A write reached etcd. */
  receive(change: Change): void {
    const cache = this.#cacheOf(change.type);
    const lag = this.lag(change.type);
    if (lag === 0 && !this.#isCutOff && cache.queue.length === 0) cache.apply(change);
    else this.#enqueue(cache, change, lag);
    if (this.#isCutOff) return;
    const { revision } = this.#cluster.etcd;
    for (const each of this.#caches.values()) if (each.queue.length === 0) each.moveTo(revision);
  }

  /** Answers now, or later if it has to wait. */
  handle(request: ApiRequest, owner: Owner | undefined, respond: Respond): void {
    const recorded = (answer: Answer): void => {
      if (UNKNOWN.has(answer.status)) this.#cluster.onUnknown(request, answer.status);
      respond(answer);
    };
    try {
      this.#route(request, owner, recorded);
    } catch (error) {
      recorded(this.failed(error));
    }
  }

  /** The answer for an error; rethrows what is none of the API's. */
  failed(error: unknown): Answer {
    if (!(error instanceof StatusError)) throw error;
    const seconds = error.init.details?.retryAfterSeconds;
    const answer = this.#answer(error.code, error.json());
    return seconds === undefined
      ? answer
      : { ...answer, headers: { ...answer.headers, 'retry-after': String(seconds) } };
  }

  #route(asked: ApiRequest, owner: Owner | undefined, respond: Respond): void {
    const request =
      this.isUpgraded && asked.form === 'whole' ? { ...asked, form: 'upgraded' as const } : asked;
    const { target, method } = request;
    if (target === undefined || !this.#cluster.isServed(target.type)) return respond(this.#document(request));
    if (request.isWatch) return this.#openWatch(request, target, { owner, respond });
    if (method === 'GET' && target.name === '') return this.#list(request, target, respond);
    if (method === 'GET' && target.subresource === '') return this.#get(request, target, respond);
    this.#withEtcd(respond, () => {
      const { etcd, writes } = this.#cluster;
      const at = this.#now();
      const changed = changeObject({ request, target, owner, at }, { etcd, writes });
      if (changed === undefined) throw methodNotAllowed();
      return this.#answer(changed.status, changed.json);
    });
  }

  #get(request: ApiRequest, { type, namespace, name }: Target, respond: Respond): void {
    const key = keyOf(namespace, name);
    const found = (version: Version | undefined): Answer => {
      if (version === undefined) throw notFound(type, name);
      return this.#answer(200, version.json(request.form));
    };
    const version = versionOf(request.query);
    if (version === undefined) return this.#withEtcd(respond, () => found(this.#cluster.etcd.get(type, key)));
    const cache = this.#cacheOf(type);
    this.#whenAt(cache, { version, respond }, () => found(cache.get(key)));
  }

  #list(request: ApiRequest, target: Target, respond: Respond): void {
    requireListOptions(request, this.isWatchListKnown);
    const selects = selectionOf(request, target);
    const { query } = request;
    const fields = query.get('fieldSelector') ?? '';
    // An object that is asked for by its name is read alone.
    const limit = NAMED.test(fields) ? 0 : Number(query.get('limit') ?? 0);
    const isCounted = fields === '' && !query.get('labelSelector');
    const page = { target, form: request.form, limit, selects, isCounted };
    const { etcd } = this.#cluster;
    const source = listSource(request, etcd);
    if (source.from === 'cache') {
      const cache = this.#cacheOf(target.type);
      const serve = (): Answer =>
        this.#answer(200, pageJson(cache.list(), { ...page, limit: 0, revision: cache.position, after: '' }));
      return this.#whenAt(cache, { version: source.notOlderThan, respond }, serve);
    }
    this.#withEtcd(respond, () => this.#answer(200, listedFromEtcd(etcd, page, source)));
  }

  #openWatch(
    request: ApiRequest,
    target: Target,
    { owner, respond }: { owner: Owner | undefined; respond: Respond },
  ): void {
    requireListOptions(request, this.isWatchListKnown);
    const selects = selectionOf(request, target);
    const version = versionOf(request.query);
    const cache = this.#cacheOf(target.type);
    const begin: Answer = {
      ...this.#answer(200, ''),
      watch: (sink) => {
        const { type, namespace } = target;
        const { form } = request;
        const watch = this.#newWatch({ owner, type, namespace, form, selects, sink });
        this.#follow(watch, request, version);
        return watch;
      },
    };
    if (request.query.get('sendInitialEvents') !== 'true') return respond(begin);
    if (version !== undefined) return this.#whenAt(cache, { version, respond }, () => begin);
    const { etcd } = this.#cluster;
    const whenKnown = (): void => this.#whenAt(cache, { version: etcd.revision, respond }, () => begin);
    if (this.#isCutOff) this.#wait(respond, whenKnown);
    else whenKnown();
  }

  #newWatch(init: {
    owner: Owner | undefined;
    type: ResourceType;
    namespace: string;
    form: Form;
    selects: ReturnType<typeof selectionOf>;
    sink: WatchSink;
  }): OpenWatch {
    const { scheduler, eventLatency } = this.#cluster;
    const watch = new OpenWatch({
      ...init,
      scheduler,
      server: this.name,
      latency: eventLatency,
    });
    this.#watches.add(watch);
    watch.whenClosed(() => this.#watches.delete(watch));
    return watch;
  }

  /** Sends what the watch asks for first, and then every change. */
  #follow(watch: OpenWatch, { query }: ApiRequest, version: number | undefined): void {
    const cache = this.#cacheOf(watch.type);
    const from = version ?? 0;
    const isInitial = query.get('sendInitialEvents') === 'true';
    if (isInitial || (from === 0 && !query.has('sendInitialEvents'))) {
      for (const each of cache.list()) watch.add(each);
      if (isInitial) watch.bookmark(cache.position, true);
    } else if (from > 0) {
      const changes = cache.since(from);
      if (changes === undefined)
        return watch.error(expired(`too old resource version: ${from} (${cache.position})`));
      for (const change of changes) watch.change(change);
    }
    this.#keepUp(watch, { query, from, cache });
  }

  #keepUp(
    watch: OpenWatch,
    { query, from, cache }: { query: URLSearchParams; from: number; cache: WatchCache },
  ): void {
    const { scheduler } = this.#cluster;
    const listener = (change: Change): void => {
      if (!watch.isOpen) cache.listeners.delete(listener);
      else if (change.revision > from) watch.change(change);
    };
    cache.listeners.add(listener);
    const seconds = Number(query.get('timeoutSeconds') ?? 0) || WATCH_SECONDS * (1 + scheduler.random());
    const cancels = [scheduler.after(seconds * 1000, undefined, () => watch.finish())];
    if (query.get('allowWatchBookmarks') === 'true') cancels.push(this.#bookmarks(watch, cache, from));
    watch.whenClosed(() => {
      cache.listeners.delete(listener);
      for (const cancel of cancels) cancel();
    });
  }

  /** Returns what ends them. */
  #bookmarks(watch: OpenWatch, cache: WatchCache, from: number): () => void {
    const { scheduler } = this.#cluster;
    let cancel = (): void => undefined;
    const next = (): void => {
      cancel = scheduler.after(BOOKMARK_MS + scheduler.random() * BOOKMARK_SPREAD_MS, undefined, () => {
        if (!watch.isOpen) return;
        if (cache.position >= from) watch.bookmark(cache.position, false);
        next();
      });
    };
    next();
    return () => cancel();
  }

  #document(request: ApiRequest): Answer {
    const { path, target, method } = request;
    const text = method === 'GET' && target === undefined ? this.#documentOf(path) : undefined;
    if (text !== undefined) return this.#answer(200, text);
    if (target !== undefined || /^\/apis\/[^/]+\/[^/]+$/.test(path)) return this.#notServed();
    this.#cluster.onUnknown(request, 404);
    return this.#notServed();
  }

  #documentOf(path: string): string | undefined {
    if (path === '/version') return versionJson(this.isUpgraded ? 35 : 34);
    return documentOf(path, this.#cluster.isServed);
  }

  #notServed(): Answer {
    return { ...this.#answer(404, '404 page not found\n'), headers: { 'content-type': 'text/plain' } };
  }

  /** Answers with what needs etcd, once etcd can be reached. */
  #withEtcd(respond: Respond, run: () => Answer): void {
    if (this.#isCutOff) this.#wait(respond, () => this.#respond(respond, run));
    else this.#respond(respond, run);
  }

  #wait(respond: Respond, run: () => void): void {
    let isOver = false;
    const once = (action: () => void) => (): void => {
      if (isOver) return;
      isOver = true;
      action();
    };
    const answer = (): void => respond(this.failed(faultStatus(504)));
    const cancel = this.#cluster.scheduler.after(REQUEST_MS, undefined, once(answer));
    this.#waiting.push(
      once(() => {
        cancel();
        run();
      }),
    );
  }

  #whenAt(
    cache: WatchCache,
    { version, respond }: { version: number; respond: Respond },
    run: () => Answer,
  ): void {
    if (version <= cache.position) return this.#respond(respond, run);
    const forget = cache.whenAt(version, () => {
      cancel();
      this.#respond(respond, run);
    });
    const cancel = this.#cluster.scheduler.after(FRESHNESS_MS, undefined, () => {
      forget();
      respond(this.failed(tooLargeVersion(version, cache.position)));
    });
  }

  #respond(respond: Respond, run: () => Answer): void {
    let answer: Answer;
    try {
      answer = run();
    } catch (error) {
      answer = this.failed(error);
    }
    respond(answer);
  }

  #answer(status: number, json: string): Answer {
    return {
      status,
      headers: { 'content-type': 'application/json', date: this.#dateHeader() },
      body: Buffer.from(json),
    };
  }

  #now(): number {
    return this.#cluster.scheduler.now() + this.clockSkew;
  }

  #dateHeader(): string {
    const second = Math.floor(this.#now() / 1000);
    if (second !== this.#dateAt) {
      this.#dateAt = second;
      this.#date = new Date(second * 1000).toUTCString();
    }
    return this.#date;
  }

  #fill(): void {
    this.#starts += 1;
    const { etcd } = this.#cluster;
    this.#caches = new Map(
      RESOURCE_TYPES.map((type) => [type, new WatchCache(type, etcd.list(type), etcd.revision)]),
    );
  }

  #cacheOf(type: ResourceType): WatchCache {
    const cache = this.#caches.get(type);
    if (cache === undefined) throw new RangeError(`expected a type of the table, given ${type.kind}`);
    return cache;
  }

  #enqueue(cache: WatchCache, change: Change, lag: number): void {
    const { scheduler } = this.#cluster;
    const at = Math.max(scheduler.now() + lag, cache.queue.at(-1)?.at ?? 0);
    cache.queue.push({ change, at });
    if (at === Infinity) return;
    scheduler.after(at - scheduler.now(), undefined, () => {
      if (!this.#isCutOff) this.#drain(cache, scheduler.now());
    });
  }

  /** Applies what has arrived by then. */
  #drain(cache: WatchCache, until: number): void {
    while ((cache.queue[0]?.at ?? Infinity) <= until) {
      const next = cache.queue.shift();
      if (next === undefined) break;
      cache.apply(next.change);
    }
    if (cache.queue.length === 0) cache.moveTo(this.#cluster.etcd.revision);
  }
}

function listedFromEtcd(
  etcd: Etcd,
  page: Omit<Parameters<typeof pageJson>[1], 'revision' | 'after'>,
  source: Exclude<ListSource, { from: 'cache' }>,
): string {
  const { type } = page.target;
  if (source.from === 'etcd')
    return pageJson(etcd.list(type), { ...page, revision: etcd.revision, after: '' });
  const { revision, after } = source;
  return pageJson(etcd.listAt(type, revision), { ...page, revision, after });
}
