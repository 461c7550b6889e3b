import type { Annotations } from '@reroll/core/model';
import { sameRecords } from '@reroll/core/state/rows';
import { namespaceAnnotations } from '@reroll/core/state/observe';
import type { KubeClient } from '../client/connection.ts';
import type { KubeError } from '../client/errors.ts';
import { collectionPath, NAMESPACES } from '../objects.ts';
import { Reflector } from '../reflector/reflector.ts';
import { WholeList } from '../reflector/whole-list.ts';
import { RecentAnnotations } from './recent-annotations.ts';

interface Seen {
  readonly key: string;
  readonly annotations: Annotations;
}

export interface FollowedNamespaces {
  /** Called with the name of a Namespace whose annotations have changed. Must not throw. */
  readonly onChange: (namespace: string) => void;
  /**
   * The watch has failed, and begins again. With the status 403, Namespaces are read until it may be watched; told once until then.
   * Must not throw.
   */
  readonly onFailure: (error: KubeError) => void;
}

const NONE: Annotations = {};
/** How long after a 403 the watch is tried again: the right may be missing for good, or only while an API server starts. */
const REFUSED_MS = 60_000;

/**
 * Knows the annotations of Namespaces that hold reloads. It watches Namespaces, and reads one only while the watch is interrupted,
 * or if there is none.
 */
export class NamespaceReader {
  readonly #client: Pick<KubeClient, 'get' | 'stream'>;
  #stream: Reflector<Seen> | undefined;
  /** Only those that have any, by name. */
  readonly #seen = new Map<string, Annotations>();
  readonly #recent: RecentAnnotations;

  constructor(client: Pick<KubeClient, 'get' | 'stream'>) {
    this.#client = client;
    this.#recent = new RecentAnnotations(client);
  }

  /** Begins to watch all Namespaces. */
  follow({ onChange, onFailure }: FollowedNamespaces): void {
    const noted = ({ key, annotations }: Seen): void => {
      const known = this.#seen.get(key) ?? NONE;
      if (sameRecords(known, annotations)) return;
      if (Object.keys(annotations).length === 0) this.#seen.delete(key);
      else this.#seen.set(key, annotations);
      onChange(key);
    };
    let isRefused = false;
    const stream = new Reflector<Seen>({
      client: this.#client,
      path: collectionPath(NAMESPACES),
      resumes: false,
      refusedMs: REFUSED_MS,
      convert: ({ metadata }) => ({
        key: metadata.name,
        annotations: namespaceAnnotations(metadata.annotations),
      }),
      handler: new WholeList('Namespace', {
        replace: ({ objects }) => {
          const names = new Set(objects.map(({ key }) => key));
          for (const key of this.#seen.keys()) if (!names.has(key)) noted({ key, annotations: NONE });
          for (const each of objects) noted(each);
        },
        upsert: noted,
        delete: ({ key }) => noted({ key, annotations: NONE }),
      }),
      hooks: {
        onListed: () => (isRefused = false),
        onFailure: (error) => {
          const isKnown = isRefused && error.status === 403;
          isRefused ||= error.status === 403;
          if (!isKnown) onFailure(error);
        },
      },
    });
    this.#stream = stream;
    stream.start();
  }

  async stop(): Promise<void> {
    const stream = this.#stream;
    this.#stream = undefined;
    await stream?.stop();
  }

  /**
   * As the watch shows them or, while it is interrupted, as of at most two seconds ago. None if there is no such Namespace. Rejects
   * with a `KubeError`.
   */
  async annotations(namespace: string): Promise<Annotations> {
    const { synced, connected } = this.#stream?.status ?? {};
    if (synced === true && connected === true) return this.#seen.get(namespace) ?? NONE;
    return await this.#recent.of(namespace);
  }
}
