import { annotationOf } from '@reroll/core/annotations/annotation-keys';
import { freezeHold } from '@reroll/core/holds/freeze';
import { FREEZE_ALL_ANNOTATION, type NamespaceHolds } from '@reroll/core/holds/hold';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { NamespaceReader } from '@reroll/kube/namespaces/namespace-reader';

/** Knows what annotations of Namespaces hold. Each is read at most once in two seconds, however many ask. */
export class NamespaceHoldsReader {
  readonly #namespaces: NamespaceReader;
  readonly #own: string;

  /** `own`: the namespace of the installation. */
  constructor(client: Pick<KubeClient, 'get' | 'stream'>, own: string) {
    this.#namespaces = new NamespaceReader(client);
    this.#own = own;
  }

  /** Why the whole installation is frozen now, in one sentence. Undefined if it is not, or if that cannot be read. */
  async freeze(): Promise<string | undefined> {
    const { installation = {} } = (await this.of(this.#own)) ?? {};
    const text = annotationOf(installation, FREEZE_ALL_ANNOTATION);
    return text === undefined ? undefined : freezeHold(text, 'The installation', Date.now())?.detail;
  }

  /** Undefined if the Namespaces cannot be read: the admin has no right to, or the API server does not answer. */
  async of(name: string): Promise<NamespaceHolds | undefined> {
    try {
      const [namespace, installation] = await Promise.all([
        this.#namespaces.annotations(name),
        this.#namespaces.annotations(this.#own),
      ]);
      return { namespace, installation };
    } catch (error) {
      if (error instanceof KubeError) return undefined;
      throw error;
    }
  }
}
