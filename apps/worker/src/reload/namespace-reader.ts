import type { Annotations } from '@reroll/core/model';
import { namespaceAnnotations } from '@reroll/core/state/observe';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { namespacePath, type KubeObject } from '@reroll/kube/objects';

/** Milliseconds for which what was read is used again: so long a burst costs one request a namespace. */
const FRESH = 2_000;

interface Reading {
  readonly at: number;
  readonly annotations: Promise<Annotations>;
}

/** Reads the annotations of Namespaces that hold reloads. */
export class NamespaceReader {
  readonly #client: Pick<KubeClient, 'get'>;
  /** The oldest first. Those that are no longer fresh go with the next read. */
  readonly #read = new Map<string, Reading>();

  constructor(client: Pick<KubeClient, 'get'>) {
    this.#client = client;
  }

  /** As of at most two seconds ago. None if there is no such Namespace. Rejects with a `KubeError`. */
  annotations(namespace: string): Promise<Annotations> {
    const now = performance.now();
    const known = this.#read.get(namespace);
    if (known && now - known.at < FRESH) return known.annotations;
    for (const [name, { at }] of this.#read) {
      if (now - at < FRESH) break;
      this.#read.delete(name);
    }
    const annotations = this.#get(namespace);
    this.#read.delete(namespace);
    this.#read.set(namespace, { at: now, annotations });
    // A failed read is not used again. The caller gets the error.
    annotations.catch(() => this.#read.delete(namespace));
    return annotations;
  }

  async #get(namespace: string): Promise<Annotations> {
    try {
      const { body } = await this.#client.get<KubeObject>(namespacePath(namespace));
      return namespaceAnnotations(body.metadata.annotations);
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return {};
      throw error;
    }
  }
}
