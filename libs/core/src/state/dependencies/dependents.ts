import type { AnnotationKeys } from '../../annotations/annotation-keys.ts';
import { kindOf, namespaceOf, type SourceKey, type SourceKind, type WorkloadKey } from '../../model.ts';
import { recordedHashes } from '../../record/record.ts';
import { decidesTheSame, namedSources } from './dependencies.ts';
import { MultiMap } from '../multi-map.ts';
import { work } from '../../work.ts';
import { sameLists, sourceKeyIn, sourceNameOf, type SourceName, type WorkloadRow } from '../rows.ts';

/** Index from sources to the workloads that an event of the source can affect. */
export class Dependents {
  readonly #keys: AnnotationKeys;
  /** By namespace, then by name: the names are those in the rows, so that the index has no strings of its own. */
  readonly #users = new Map<string, MultiMap<WorkloadKey>>();
  /** Maps `<kind>/<namespace>` to the workloads that name such sources by pattern. */
  readonly #patterned = new MultiMap<WorkloadKey>();

  constructor(keys: AnnotationKeys) {
    this.#keys = keys;
  }

  /** Returns the workloads that use, mention or literally name the source, depend on it, or have it recorded. */
  usersOf(source: SourceKey): readonly WorkloadKey[] {
    return this.#usersIn(source)?.get(sourceNameOf(source)) ?? [];
  }

  hasUsers(source: SourceKey): boolean {
    return this.#usersIn(source)?.has(sourceNameOf(source)) ?? false;
  }

  /** Whether the source has users, or a pattern may match it. */
  mayHaveUsers(source: SourceKey): boolean {
    return this.hasUsers(source) || this.#patterned.has(`${kindOf(source)}/${namespaceOf(source)}`);
  }

  isUser(source: SourceKey, workload: WorkloadKey): boolean {
    return this.#usersIn(source)?.includes(sourceNameOf(source), workload) ?? false;
  }

  /** Returns the users, and the workloads with a pattern that may match the source, each once. */
  maybeUsersOf(source: SourceKey): readonly WorkloadKey[] {
    const patterned = this.#patterned.get(`${kindOf(source)}/${namespaceOf(source)}`);
    return patterned.length === 0
      ? this.usersOf(source)
      : [...new Set([...this.usersOf(source), ...patterned])];
  }

  /** Returns the sources under which a workload is indexed. */
  sourcesOf(key: WorkloadKey, row: WorkloadRow): SourceKey[] {
    return [...indexedNames(row, this.#keys).names].map((name) => sourceKeyIn(namespaceOf(key), name));
  }

  put(key: WorkloadKey, old: WorkloadRow | undefined, row: WorkloadRow): void {
    if (old && isIndexedAlike(old, row)) return;
    if (old) this.remove(key, old);
    const namespace = namespaceOf(key);
    const { names, patterned } = indexedNames(row, this.#keys);
    const users = this.#users.get(namespace) ?? new MultiMap();
    for (const name of names) users.add(name, key);
    if (!users.isEmpty) this.#users.set(namespace, users);
    for (const kind of patterned) this.#patterned.add(`${kind}/${namespace}`, key);
  }

  remove(key: WorkloadKey, row: WorkloadRow): void {
    const namespace = namespaceOf(key);
    const { names, patterned } = indexedNames(row, this.#keys);
    const users = this.#users.get(namespace);
    for (const name of names) users?.delete(name, key);
    if (users?.isEmpty) this.#users.delete(namespace);
    for (const kind of patterned) this.#patterned.delete(`${kind}/${namespace}`, key);
  }

  #usersIn(source: SourceKey): MultiMap<WorkloadKey> | undefined {
    return this.#users.get(namespaceOf(source));
  }
}

/**
 * Returns the sources under which a workload is indexed, and the kinds that it names by pattern. Of a workload that exceeds a limit,
 * none that it only has recorded; none at all if its namespace has no room for them.
 */
export function indexedNames(
  row: WorkloadRow,
  keys: AnnotationKeys,
): { names: ReadonlySet<SourceName>; patterned: readonly SourceKind[] } {
  if (row.excess?.inNamespace) return { names: new Set(), patterned: [] };
  const { literal, patterned } = namedSources(row, keys);
  const recorded = row.excess ? [] : Object.keys(recordedHashes(row.record));
  const names = new Set([...row.uses, ...row.mentions, ...row.dependencies, ...literal, ...recorded]);
  work.dependencyNames += names.size;
  return { names, patterned };
}

/** Whether two rows of a workload are indexed under the same sources. */
export function isIndexedAlike(a: WorkloadRow, b: WorkloadRow): boolean {
  return (
    a.record === b.record &&
    decidesTheSame(a, b) &&
    sameLists(a.mentions, b.mentions) &&
    sameLists(a.dependencies, b.dependencies)
  );
}
