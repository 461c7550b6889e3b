import { SOURCE_KINDS, type SourceKey, type WorkloadKey } from '../model.ts';
import type { RowKeyOf, Sort, Taken } from './lots.ts';
import type { MultiMap } from './multi-map.ts';

/** Rows of one namespace that are taken before another one has its turn. */
export const ROWS_PER_TURN = 25;

/** Keys of rows, by the namespace of their objects. */
interface RowsByNamespace<K> {
  /** May name a namespace more than once. */
  readonly namespaces: Iterable<string>;
  readonly rowsIn: (namespace: string) => Iterable<K>;
}

/** Of a `MultiMap`, read only when they are asked for. */
export type Members<K extends string> = Pick<MultiMap<K>, 'keys' | 'each'>;

/** `members`: by `<kind>/<namespace>`. */
export function everySource(members: Members<SourceKey>): EveryRow<'sources'> {
  return new EveryRow({
    namespaces: namespacesOf(members),
    *rowsIn(namespace) {
      for (const kind of SOURCE_KINDS) yield* members.each(`${kind}/${namespace}`);
    },
  });
}

function* namespacesOf(members: Members<SourceKey>): Generator<string, void, void> {
  for (const kindIn of members.keys()) yield kindIn.slice(kindIn.indexOf('/') + 1);
}

/** `members`: by namespace. */
export function everyWorkload(members: Members<WorkloadKey>): EveryRow<'workloads'> {
  return new EveryRow({ namespaces: members.keys(), rowsIn: (namespace) => members.each(namespace) });
}

/**
 * Progress of writing every row of one sort. Reads keys only when they are taken. Namespaces that were put first take turns.
 */
export class EveryRow<S extends Sort> {
  readonly #rowsIn: (namespace: string) => Iterable<RowKeyOf[S]>;
  readonly #rest: Iterator<string>;
  readonly #begun = new Map<string, Iterator<RowKeyOf[S]>>();
  readonly #first = new Set<string>();
  /** The namespaces before it have had their turn. A new iterator would pass over the places of all these. */
  #turns = this.#first.values();
  readonly #done = new Set<string>();
  /** Keys that changed and were taken meanwhile. */
  readonly #written = new Set<RowKeyOf[S]>();

  constructor({ namespaces, rowsIn }: RowsByNamespace<RowKeyOf[S]>) {
    this.#rest = namespaces[Symbol.iterator]();
    this.#rowsIn = rowsIn;
  }

  /** Whether every row of the namespace was taken. */
  hasAllOf(namespace: string): boolean {
    return this.#done.has(namespace);
  }

  putFirst(namespace: string): void {
    if (!this.#done.has(namespace)) this.#first.add(namespace);
  }

  wrote(key: RowKeyOf[S]): void {
    this.#written.add(key);
  }

  /** Fills a part of the write with rows that were not written yet. Returns true if none are left. */
  fill(taken: Taken<RowKeyOf[S]>, most: number, part: number): boolean {
    while (taken.hasRoom(most, part)) {
      const namespace = this.#next();
      if (namespace === undefined) return true;
      const rows = this.#begun.get(namespace) ?? this.#rowsIn(namespace)[Symbol.iterator]();
      const isFirst = this.#first.delete(namespace);
      if (this.#takeTurn(rows, taken, { most, part })) {
        this.#begun.delete(namespace);
        this.#done.add(namespace);
      } else {
        this.#begun.set(namespace, rows);
        if (isFirst) this.#first.add(namespace);
      }
    }
    return false;
  }

  #next(): string | undefined {
    if (this.#first.size > 0) return this.#nextOfFirst();
    for (const namespace of this.#begun.keys()) return namespace;
    for (let next = this.#rest.next(); next.done !== true; next = this.#rest.next())
      if (!this.#done.has(next.value)) return next.value;
    return undefined;
  }

  #nextOfFirst(): string | undefined {
    const next = this.#turns.next();
    if (next.done !== true) return next.value;
    this.#turns = this.#first.values();
    return this.#turns.next().value;
  }

  /** Returns true if the namespace has no more rows. */
  #takeTurn(
    rows: Iterator<RowKeyOf[S]>,
    taken: Taken<RowKeyOf[S]>,
    { most, part }: { most: number; part: number },
  ): boolean {
    for (let left = ROWS_PER_TURN; left > 0 && taken.hasRoom(most, part);) {
      const next = rows.next();
      if (next.done === true) return true;
      if (this.#written.has(next.value)) continue;
      taken.add(next.value);
      left -= 1;
    }
    return false;
  }
}
