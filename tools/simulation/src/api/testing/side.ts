import { JsonLines } from '@reroll/kube/client/json-lines';
import type { KubeClient, KubeRequest, Query } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';

interface Writer {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly time: string;
  readonly fieldsV1: object;
}

export interface Body {
  readonly kind?: string;
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly managedFields?: readonly Writer[];
  };
}

/** What came of a request, in words that are the same on both sides. */
export interface Outcome {
  readonly status: number;
  readonly reason?: string;
  readonly causes?: readonly object[];
  readonly body?: unknown;
}

export interface SeenEvent {
  readonly type: string;
  readonly object: unknown;
}

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Which part of a template is immutable is said more or less exactly. */
function refusalOf({ status, reason, causes }: KubeError): Outcome {
  const exact = causes.map((cause) => ({
    ...cause,
    field: cause.field.replace(/^spec\.template\..*/, 'spec.template'),
  }));
  return { status, reason, causes: exact };
}

/** One of two API servers that are asked the same, with the versions and uids that it gave. */
export class Side {
  readonly #client: KubeClient;
  readonly #wait: <T>(promise: Promise<T>) => Promise<T>;
  readonly #versions = new Map<string, string>();
  readonly #uids = new Map<string, string>();
  readonly #bodies = new Map<string, Body[]>();
  readonly #watches: { readonly events: SeenEvent[]; readonly abort: AbortController }[] = [];
  readonly #next = new Map<string, string | undefined>();
  readonly #listed = new Map<string, string>();

  /** `wait` lets time pass until the promise settles. */
  constructor(client: KubeClient, wait: <T>(promise: Promise<T>) => Promise<T>) {
    this.#client = client;
    this.#wait = wait;
  }

  /** The objects of a collection that were answered so far, oldest first. */
  bodies(path: string): readonly Body[] {
    return this.#bodies.get(path) ?? [];
  }

  /** The token of the last list of a collection, if it was not complete. */
  next(path: string): string | undefined {
    return this.#next.get(path);
  }

  /** The resourceVersion of the last list of a collection. */
  listed(path: string): string | undefined {
    return this.#listed.get(path);
  }

  async ask(request: KubeRequest): Promise<Outcome> {
    try {
      const { status, body } = await this.#wait(this.#client.request<Body>(request));
      this.#remember(body, request);
      return { status, body: this.normal(body) };
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      return refusalOf(error);
    }
  }

  /** Opens a watch and collects its events but bookmarks. A refusal is returned. */
  async watch({ path, query }: { path: string; query: Query }): Promise<Outcome> {
    const events: SeenEvent[] = [];
    const abort = new AbortController();
    try {
      const options = { query: { watch: 1, ...query }, signal: abort.signal };
      const stream = await this.#wait(this.#client.stream(path, options));
      this.#watches.push({ events, abort });
      this.#collect(stream, events).catch(() => undefined);
      return { status: 200 };
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      return refusalOf(error);
    }
  }

  /** The events of each watch so far, in the order in which the watches were opened. */
  get events(): readonly (readonly SeenEvent[])[] {
    return this.#watches.map(({ events }) =>
      events.map(({ type, object }) => ({ type, object: this.normal(object) })),
    );
  }

  stop(): void {
    for (const { abort } of this.#watches) abort.abort();
  }

  /** The managedFields of the last answer about a collection: manager, subresource and the fields at the top. */
  writers(path: string): readonly string[] {
    const entries = this.bodies(path).at(-1)?.metadata?.managedFields ?? [];
    return entries
      .map(({ manager, operation, subresource = '', time, fieldsV1 }) => {
        const fields = Object.keys(fieldsV1).toSorted().join();
        return `${manager} ${operation} ${subresource} ${TIME.test(time)} ${fields}`;
      })
      .toSorted();
  }

  /** Versions, uids and times as words; without managedFields. */
  normal(body: unknown): unknown {
    const text = JSON.stringify(body).replaceAll(UID, (uid) => this.#uidName(uid));
    const normal = JSON.parse(text, (key, value: unknown) => this.#normalField(key, value)) as unknown;
    const { kind, metadata } = normal as Body;
    // Others write to etcd too.
    return kind?.endsWith('List')
      ? { ...(normal as Body), metadata: { ...metadata, resourceVersion: 'list' } }
      : normal;
  }

  async #collect(stream: AsyncIterable<Buffer>, events: SeenEvent[]): Promise<void> {
    const lines = new JsonLines();
    for await (const chunk of stream)
      for (const line of lines.push(chunk)) {
        const { type, object } = line as SeenEvent;
        if (type !== 'BOOKMARK') events.push({ type, object });
      }
  }

  #remember(body: Body, { method, path, query }: KubeRequest): void {
    if (query?.['dryRun'] !== undefined) return;
    const { resourceVersion, continue: next } = body.metadata ?? {};
    if (body.kind?.endsWith('List')) {
      this.#next.set(path, next || undefined);
      this.#listed.set(path, resourceVersion ?? '');
    } else if (body.kind !== 'Status' && resourceVersion) {
      if (method !== 'GET' && !this.#versions.has(resourceVersion))
        this.#versions.set(resourceVersion, `v${this.#versions.size}`);
      if (body.kind === 'PartialObjectMetadata') return;
      const object = path.replace(/\/status$/, '');
      const collection = method === 'POST' ? path : object.slice(0, object.lastIndexOf('/'));
      this.#bodies.set(collection, [...this.bodies(collection), body]);
    }
  }

  #uidName(uid: string): string {
    const name = this.#uids.get(uid) ?? `u${this.#uids.size}`;
    this.#uids.set(uid, name);
    return name;
  }

  #normalField(key: string, value: unknown): unknown {
    if (key === 'managedFields') return undefined;
    if (key === 'resourceVersion') return this.#versions.get(String(value)) ?? 'other';
    if (key === 'continue' || (key.endsWith('Timestamp') && TIME.test(String(value)))) return key;
    return value;
  }
}
