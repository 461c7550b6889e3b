import { patched, type PatchOperation } from '@reroll/core/reload/json-patch';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import type { KubeObject } from '@reroll/kube/objects';
import { only } from './only.ts';

/** An error response of the API server. */
export function refusal(status: number, more: { reason?: string; field?: string } = {}): KubeError {
  const { reason, field } = more;
  const causes = field === undefined ? [] : [{ reason: 'FieldValueTooLong', field }];
  return new KubeError({ code: 'KUBE_API', status, reason, retryable: status >= 500, causes });
}

interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** An in-memory API server with what a worker uses: objects by path, and patches with tests. */
export class FakeApi {
  readonly objects = new Map<string, KubeObject>();
  /** The writes: method and last part of the path. */
  readonly writes: string[] = [];
  /** The `Date` of its answers, in Unix milliseconds. Default: they have none. */
  date: number | undefined;
  #rv = 100;
  /** Called before each request; an error that it throws is the response. */
  before: (method: string, path: string) => void = () => undefined;

  readonly client = only<KubeClient>('client', {
    get: async (path: string) => {
      this.before('GET', path);
      return { body: this.#read(path) };
    },
    apiTime: () => (this.date === undefined ? Date.now() : this.date + 1_000),
    patch: async (path: string, operations: readonly PatchOperation[]) => {
      this.#write('PATCH', path);
      const object = this.#read(path);
      if (!operations.every((operation) => holds(object, operation))) throw refusal(422);
      return { body: this.#put(path, patched(object, operations)) };
    },
    post: async (path: string, object: KubeObject, { query }: { query: { dryRun?: string } }) => {
      const own = `${path}/${object.metadata.name}`;
      this.before('POST', own);
      if (this.objects.has(own)) throw refusal(409, { reason: 'AlreadyExists' });
      if (query.dryRun) return { body: object };
      this.writes.push(`POST ${object.metadata.name}`);
      return { body: this.#put(own, { ...object, metadata: { ...object.metadata, uid: `new-${own}` } }) };
    },
    request: async ({ method, path, body }: { method: string; path: string; body?: DeleteOptions }) => {
      this.#write(method, path);
      const object = this.#read(path);
      if (!isMeant(object, body)) throw refusal(409);
      if (isKept(object)) this.#put(path, withDeletion(object, this.client.apiTime()));
      else this.objects.delete(path);
      return {};
    },
  });

  #write(method: string, path: string): void {
    this.before(method, path);
    this.writes.push(`${method} ${path.slice(path.lastIndexOf('/') + 1)}`);
  }

  #read(path: string): KubeObject {
    const object = this.objects.get(path);
    if (!object) throw refusal(404);
    return object;
  }

  #put(path: string, object: KubeObject): KubeObject {
    const { generation = 0 } = object.metadata;
    this.#rv += 1;
    const metadata = { ...object.metadata, generation: generation + 1, resourceVersion: String(this.#rv) };
    this.objects.set(path, { ...object, metadata });
    return { ...object, metadata };
  }
}

/** Whether the preconditions of a deletion hold. */
function isMeant({ metadata }: KubeObject, { preconditions = {} }: DeleteOptions = {}): boolean {
  const { uid = metadata.uid, resourceVersion = metadata.resourceVersion } = preconditions;
  return uid === metadata.uid && resourceVersion === metadata.resourceVersion;
}

/** Whether finalizers keep an object that is deleted. */
function isKept({ metadata }: KubeObject): boolean {
  return 'finalizers' in metadata;
}

function withDeletion(object: KubeObject, at: number): KubeObject {
  const deletion = { deletionTimestamp: new Date(at).toISOString() };
  return { ...object, metadata: { ...deletion, ...object.metadata } };
}

/** Whether a test of a patch passes; a pointer to nothing equals `null`. */
function holds(object: KubeObject, { op, path, value }: PatchOperation): boolean {
  if (op !== 'test') return true;
  const parts = path.split('/').slice(1);
  const found = parts.reduce<unknown>((at, part) => {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    return (at as Record<string, unknown> | null | undefined)?.[key];
  }, object);
  return JSON.stringify(found ?? null) === JSON.stringify(value ?? null);
}
