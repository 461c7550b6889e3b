import { keyOf, type ApiObject, type Manifest, type Version } from './api-object.ts';
import type { Target } from './api-request.ts';
import type { Author, Etcd } from './etcd.ts';
import { mergePatched } from './json-patch.ts';
import { typeOfKind } from './resource-types.ts';
import type { DeleteOptions, Edit, WriteOptions, Writes } from './writes.ts';

/** An object by kind. `namespace` is '' for a kind without. */
export interface ObjectId {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export interface WorldWriterContext {
  readonly etcd: Etcd;
  readonly writes: Writes;
  readonly author: Author;
  /** Virtual Unix milliseconds. */
  readonly now: () => number;
}

function targetOf({ kind, namespace, name }: ObjectId, subresource = ''): Target {
  return { type: typeOfKind(kind), namespace, name, subresource };
}

/**
 * Writes by the same rules as requests, but at once and without the network. Everything throws a `StatusError` where the API
 * server would refuse, and a `RangeError` for an unknown kind.
 */
export class WorldWriter {
  readonly #context: WorldWriterContext;

  constructor(context: WorldWriterContext) {
    this.#context = context;
  }

  /** The object as it is in etcd. */
  get({ kind, namespace, name }: ObjectId): ApiObject | undefined {
    return this.#context.etcd.get(typeOfKind(kind), keyOf(namespace, name))?.object;
  }

  /** All objects of a kind, in one namespace or in all, in the order of etcd. */
  list(kind: string, namespace = ''): ApiObject[] {
    const all = this.#context.etcd.list(typeOfKind(kind)).map((version) => version.object);
    return namespace === '' ? all : all.filter((object) => object.metadata.namespace === namespace);
  }

  /** The manifest's `metadata` must have `name` or `generateName`. */
  create(id: Pick<ObjectId, 'kind' | 'namespace'>, manifest: Manifest): ApiObject {
    return this.#context.writes.create(targetOf({ ...id, name: '' }), manifest, this.#options()).object;
  }

  /** The edit returns the new object, and changes nothing in place. */
  update(id: ObjectId, edit: (present: ApiObject) => ApiObject): ApiObject {
    return this.#edit(targetOf(id), edit).object;
  }

  /** A merge patch. */
  patch(id: ObjectId, patch: Manifest): ApiObject {
    return this.#edit(targetOf(id), (present) => mergePatched(present, patch)).object;
  }

  /** Replaces the status. */
  setStatus(id: ObjectId, status: object): ApiObject {
    return this.#edit(targetOf(id, 'status'), (present) => ({ ...present, status })).object;
  }

  /** Returns the object if it waits for finalizers. */
  delete(id: ObjectId, options: DeleteOptions = {}): ApiObject | undefined {
    return this.#context.writes.delete(targetOf(id), options, this.#options())?.object;
  }

  /** Removes a namespace that is being deleted and whose content is gone. */
  finishNamespace(name: string): void {
    this.#context.writes.finish(targetOf({ kind: 'Namespace', namespace: '', name }), this.#options());
  }

  #edit(target: Target, edit: Edit): Version {
    return this.#context.writes.edit(target, edit, this.#options());
  }

  #options(): WriteOptions {
    return { author: this.#context.author, isDryRun: false, at: this.#context.now() };
  }
}
