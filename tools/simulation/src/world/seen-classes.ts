/**
 * The data of SecretProviderClasses, as far as it can be seen: what a pod has mounted last that it did not have before. A pod that
 * lingers, or goes, tells nothing.
 */
import { keyOf, type KubeObject } from './shapes.ts';
import type { Commit } from './commit.ts';

const CLASS = 'SecretProviderClass';
const STATUS = 'SecretProviderClassPodStatus';

interface Status {
  readonly secretProviderClassName: string;
  readonly objects: readonly { readonly id: string; readonly version: string }[];
}

export class SeenClasses {
  readonly #objects = new Map<string, KubeObject>();
  /** As sources, with data. */
  readonly #sources = new Map<string, KubeObject>();

  clone(): SeenClasses {
    const copy = new SeenClasses();
    for (const [key, object] of this.#objects) copy.#objects.set(key, object);
    for (const [key, source] of this.#sources) copy.#sources.set(key, source);
    return copy;
  }

  /** The change of a class that the write shows, as if the class were a source like others; undefined if it shows none. */
  see({ before, after }: Commit): Commit | undefined {
    if (after?.kind === CLASS) return this.#classWritten(after);
    if (after?.kind !== STATUS || (before && dataOf(before) === dataOf(after))) return undefined;
    const { secretProviderClassName: name, objects } = statusOf(after);
    const metadata = { name, namespace: after.metadata.namespace ?? '' };
    const object = { apiVersion: after.apiVersion, kind: CLASS, metadata };
    const versions = Object.fromEntries(objects.map(({ id, version }) => [id, version]));
    const data = { ...versions, SecretProviderClassName: name };
    return this.#changed({ ...object, ...this.#objects.get(keyOf(object)), data });
  }

  #classWritten(object: KubeObject): Commit | undefined {
    const key = keyOf(object);
    this.#objects.set(key, object);
    const known = this.#sources.get(key);
    return known && this.#changed({ ...object, data: known['data'] });
  }

  #changed(after: KubeObject): Commit {
    const before = this.#sources.get(keyOf(after));
    this.#sources.set(keyOf(after), after);
    return { before, after, by: undefined };
  }
}

function statusOf(object: KubeObject): Status {
  return object['status'] as Status;
}

function dataOf(object: KubeObject): string {
  return JSON.stringify(statusOf(object).objects);
}
