import type { Catalog } from '@reroll/redis/catalog/catalog';
import { scopeKey, type Scope } from '@reroll/core/state/listed';
import { kindOf, namespaceOf } from '@reroll/core/state/rows';

/** So long (ms) the keys are kept: for the first lists of many namespaces, and no longer. */
const KEPT = 60_000;

type Keys = ReadonlyMap<string, readonly string[]>;

/**
 * Which objects the catalog knows, by kind and namespace. Read once for the first lists of many namespaces: for
 * each of them Redis would go through everything.
 */
export class CatalogAtStart {
  readonly #catalog: Catalog;
  #keys: Promise<Keys> | null = null;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** Rejects with ioredis' error. */
  async keysOf(scope: Scope): Promise<readonly string[]> {
    return (await this.#read()).get(scopeKey(scope)) ?? [];
  }

  /** Namespaces of which anything is known. Rejects with ioredis' error. */
  async namespaces(): Promise<Set<string>> {
    return new Set([...(await this.#read()).values()].map(([key = '']) => namespaceOf(key)));
  }

  /** Lets the keys go: nobody needs them now. */
  release(): void {
    this.#keys = null;
  }

  #read(): Promise<Keys> {
    this.#keys ??= this.#readAnew();
    return this.#keys;
  }

  async #readAnew(): Promise<Keys> {
    try {
      const keys = await readKeys(this.#catalog);
      setTimeout(() => this.release(), KEPT).unref();
      return keys;
    } catch (error) {
      this.release();
      throw error;
    }
  }
}

async function readKeys(catalog: Catalog): Promise<Keys> {
  const found = new Map<string, string[]>();
  const note = (key: string): boolean => {
    const scope = scopeKey({ kind: kindOf(key), namespace: namespaceOf(key) });
    const held = found.get(scope);
    if (held) held.push(key);
    else found.set(scope, [key]);
    return false;
  };
  for (const rows of [catalog.eachSource(note), catalog.eachWorkload(note)]) {
    for await (const _ of rows) continue;
  }
  return found;
}
