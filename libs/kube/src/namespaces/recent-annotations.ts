import type { Annotations } from '@reroll/core/model';
import { namespaceAnnotations } from '@reroll/core/state/observe';
import type { KubeClient, RequestOptions } from '../client/connection.ts';
import { KubeError } from '../client/errors.ts';
import { namespacePath, type KubeObject } from '../objects.ts';

/** Milliseconds for which what was read is used again: so long a burst costs one request a namespace. */
const FRESH = 2_000;

interface Reading {
  readonly at: number;
  readonly annotations: Promise<Annotations>;
}

export interface RecentAnnotationsOptions {
  /** Of each read. Default: as the client has it. */
  readonly request?: Pick<RequestOptions, 'accept' | 'timeoutMs'>;
  /** Whether a failure is used again, too, so that it costs no more than an answer. Default false: the next who asks reads again. */
  readonly keepsFailures?: boolean;
}

/** Reads the annotations of Namespaces that hold reloads, each at most once in two seconds, however many ask. */
export class RecentAnnotations {
  readonly #client: Pick<KubeClient, 'get'>;
  readonly #options: RecentAnnotationsOptions;
  /** The oldest first. Those that are no longer fresh go with the next read. */
  readonly #read = new Map<string, Reading>();

  constructor(client: Pick<KubeClient, 'get'>, options: RecentAnnotationsOptions = {}) {
    this.#client = client;
    this.#options = options;
  }

  /** As of at most two seconds ago. None if there is no such Namespace. Rejects with a `KubeError`. */
  of(namespace: string): Promise<Annotations> {
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
    if (this.#options.keepsFailures !== true) this.#forgetFailure(namespace, annotations);
    return annotations;
  }

  /** A failed read is not used again. The caller gets the error. */
  #forgetFailure(namespace: string, annotations: Promise<Annotations>): void {
    annotations.catch(() => {
      if (this.#read.get(namespace)?.annotations === annotations) this.#read.delete(namespace);
    });
  }

  async #get(namespace: string): Promise<Annotations> {
    try {
      const { body } = await this.#client.get<KubeObject>(namespacePath(namespace), this.#options.request);
      return namespaceAnnotations(body.metadata.annotations);
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return {};
      throw error;
    }
  }
}
