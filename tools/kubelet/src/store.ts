import type { KubeClient } from '@reroll/kube/client/connection';
import { Reflector } from '@reroll/kube/reflector/reflector';
import type { Metadata } from './types.ts';

interface Stored {
  readonly metadata: Metadata;
}

/** Every object of a collection, as it is now, by uid. */
export class Store<T extends Stored> {
  readonly #reflector: Reflector<T>;
  readonly #objects = new Map<string, T>();
  #listed = new Set<string>();

  constructor(options: {
    client: KubeClient;
    path: string;
    fieldSelector?: string;
    /** After each change, with the object's uid. */
    onChange: (uid: string) => void;
  }) {
    const { client, path, fieldSelector, onChange } = options;
    const put = (object: T): void => {
      this.#objects.set(object.metadata.uid, object);
      this.#listed.add(object.metadata.uid);
      onChange(object.metadata.uid);
    };
    const drop = (uid: string): void => {
      this.#objects.delete(uid);
      onChange(uid);
    };
    this.#reflector = new Reflector<T>({
      client,
      path,
      fieldSelector,
      convert: (raw) => raw as unknown as T,
      handler: {
        replace: () => this.#listed.clear(),
        upsert: (objects) => objects.forEach(put),
        delete: (object) => drop(object.metadata.uid),
        synced: () => [...this.#objects.keys()].filter((uid) => !this.#listed.has(uid)).forEach(drop),
      },
    });
  }

  async start(): Promise<void> {
    this.#reflector.start();
    if (!(await this.#reflector.waitSynced(60_000))) throw new Error('expected a list within 60 s');
  }

  get(uid: string): T | undefined {
    return this.#objects.get(uid);
  }

  get all(): T[] {
    return [...this.#objects.values()];
  }

  async stop(): Promise<void> {
    await this.#reflector.stop(1_000);
  }
}
