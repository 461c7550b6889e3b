import { annotationOf } from '@reroll/core/annotations/annotation-keys';
import { freezeHold } from '@reroll/core/holds/freeze';
import { FREEZE_ALL_ANNOTATION, type NamespaceHolds } from '@reroll/core/holds/hold';
import type { Annotations } from '@reroll/core/model';
import { namespaceAnnotations } from '@reroll/core/state/observe';
import { METADATA_ONLY, type KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { namespacePath, type KubeObject } from '@reroll/kube/objects';

/** Milliseconds for which an answer is used again, and after which the API server is taken to be away. */
const FRESH = 2_000;
const TIMEOUT = 2_000;

interface Reading {
  readonly at: number;
  readonly annotations: Promise<Annotations | undefined>;
}

/** Knows what annotations of Namespaces hold. Each is read at most once in two seconds, however many ask, and also if that fails. */
export class NamespaceHoldsReader {
  readonly #client: Pick<KubeClient, 'get'>;
  readonly #own: string;
  /** The oldest first. Those that are no longer fresh go with the next read. */
  readonly #read = new Map<string, Reading>();

  /** `own`: the namespace of the installation. */
  constructor(client: Pick<KubeClient, 'get'>, own: string) {
    this.#client = client;
    this.#own = own;
  }

  /** Why the whole installation is frozen now, in one sentence. Null: it is not. Undefined: that cannot be read. */
  async freeze(): Promise<string | null | undefined> {
    const annotations = await this.#annotations(this.#own);
    if (!annotations) return undefined;
    const text = annotationOf(annotations, FREEZE_ALL_ANNOTATION);
    return (
      (text === undefined ? undefined : freezeHold(text, 'The installation', Date.now()))?.detail ?? null
    );
  }

  /** Without those that cannot be read: the admin has no right to, or the API server does not answer. */
  async of(name: string): Promise<Partial<NamespaceHolds>> {
    const [namespace, installation] = await Promise.all([
      this.#annotations(name),
      this.#annotations(this.#own),
    ]);
    return { ...(namespace ? { namespace } : {}), ...(installation ? { installation } : {}) };
  }

  #annotations(name: string): Promise<Annotations | undefined> {
    const now = performance.now();
    for (const [each, { at }] of this.#read) {
      if (now - at < FRESH) break;
      this.#read.delete(each);
    }
    const known = this.#read.get(name);
    if (known) return known.annotations;
    const annotations = this.#get(name);
    this.#read.set(name, { at: now, annotations });
    return annotations;
  }

  async #get(name: string): Promise<Annotations | undefined> {
    try {
      const options = { accept: METADATA_ONLY, timeoutMs: TIMEOUT };
      const { body } = await this.#client.get<KubeObject>(namespacePath(name), options);
      return namespaceAnnotations(body.metadata.annotations);
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      return error.status === 404 ? {} : undefined;
    }
  }
}
