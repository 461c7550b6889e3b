import type { Owner } from '../scheduler.ts';
import { keyOf, type ApiObject, type Manifest } from './api-object.ts';
import type { ApiRequest, Target } from './api-request.ts';
import type { Etcd } from './etcd.ts';
import { jsonPatched, mergePatched, PatchError, type PatchOperation } from './json-patch.ts';
import { badRequest, patchFailed, unsupportedMediaType } from './status-error.ts';
import type { DeleteOptions, Edit, WriteOptions, Writes } from './writes.ts';

/** A request that writes, and from whom. */
export interface WriteRequest {
  readonly request: ApiRequest;
  readonly target: Target;
  readonly owner: Owner | undefined;
  /** Unix milliseconds by the server's clock. */
  readonly at: number;
}

export interface Changed {
  readonly status: number;
  readonly json: string;
}

function parsed(body: string): Manifest {
  try {
    return (body === '' ? {} : JSON.parse(body)) as Manifest;
  } catch {
    throw badRequest('the body of the request cannot be parsed');
  }
}

function patchEdit({ contentType, body }: ApiRequest): Edit {
  const patch: unknown = parsed(body);
  if (contentType === 'application/merge-patch+json') return (present) => mergePatched(present, patch);
  if (contentType !== 'application/json-patch+json') throw unsupportedMediaType(contentType);
  if (!Array.isArray(patch)) throw badRequest('json: cannot unmarshal into a list of operations');
  return (present: ApiObject) => {
    try {
      return jsonPatched(present, patch as PatchOperation[]);
    } catch (error) {
      throw error instanceof PatchError ? patchFailed() : error;
    }
  };
}

interface Writing extends WriteRequest {
  readonly options: WriteOptions;
  readonly etcd: Etcd;
  readonly writes: Writes;
}

function deleted({ request, target, options, etcd, writes }: Writing): string {
  const { type, namespace, name } = target;
  const uid = etcd.get(type, keyOf(namespace, name))?.object.metadata.uid;
  const left = writes.delete(target, parsed(request.body) as DeleteOptions, options);
  if (left !== undefined) return left.json(request.form);
  const group = type.group === '' ? {} : { group: type.group };
  const details = { name, ...group, kind: type.plural, uid };
  return JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
}

type Method = (writing: Writing) => string;

const OF_COLLECTION: Readonly<Record<string, Method>> = {
  POST: ({ request, target, options, writes }) =>
    writes.create(target, parsed(request.body), options).json(request.form),
};

const OF_SUBRESOURCE: Readonly<Record<string, Method>> = {
  PUT: ({ request, target, options, writes }) =>
    writes.replace(target, parsed(request.body), options).json(request.form),
  PATCH: ({ request, target, options, writes }) =>
    writes.edit(target, patchEdit(request), options).json(request.form),
};

const OF_OBJECT: Readonly<Record<string, Method>> = { ...OF_SUBRESOURCE, DELETE: deleted };

function methodsOf({ type, name, subresource }: Target): Readonly<Record<string, Method>> {
  if (name === '') return OF_COLLECTION;
  if (subresource === '') return OF_OBJECT;
  return subresource === 'status' && type.hasStatus ? OF_SUBRESOURCE : {};
}

/** Does what the request asks; undefined for a method that no rule covers. Throws a `StatusError`. */
export function changeObject(
  write: WriteRequest,
  store: { readonly etcd: Etcd; readonly writes: Writes },
): Changed | undefined {
  const { method, query, manager } = write.request;
  const run = methodsOf(write.target)[method];
  if (run === undefined) return undefined;
  const author = { owner: write.owner, manager };
  const options = { author, isDryRun: query.get('dryRun') === 'All', at: write.at };
  return { status: method === 'POST' ? 201 : 200, json: run({ ...write, ...store, options }) };
}
