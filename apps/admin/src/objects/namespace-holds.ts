import { annotationOf } from '@reroll/core/annotations/annotation-keys';
import { freezeHold } from '@reroll/core/holds/freeze';
import { FREEZE_ALL_ANNOTATION, type NamespaceHolds } from '@reroll/core/holds/hold';
import type { Annotations } from '@reroll/core/model';
import { METADATA_ONLY, type KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { RecentAnnotations } from '@reroll/kube/namespaces/recent-annotations';

/** Milliseconds after which the API server is taken to be away. */
const TIMEOUT = 2_000;

/** Knows what annotations of Namespaces hold. Each is read at most once in two seconds, however many ask, and also if that fails. */
export class NamespaceHoldsReader {
  readonly #recent: RecentAnnotations;
  readonly #own: string;

  /** `own`: the namespace of the installation. */
  constructor(client: Pick<KubeClient, 'get'>, own: string) {
    const request = { accept: METADATA_ONLY, timeoutMs: TIMEOUT };
    this.#recent = new RecentAnnotations(client, { request, keepsFailures: true });
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

  async #annotations(name: string): Promise<Annotations | undefined> {
    try {
      return await this.#recent.of(name);
    } catch (error) {
      if (error instanceof KubeError) return undefined;
      throw error;
    }
  }
}
