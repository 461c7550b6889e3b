import { kindForName, kindForTable } from '../args/kinds.ts';

export interface Named {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** `deployment/web`, as tables show it. */
export function shortName({ kind, name }: Pick<Named, 'kind' | 'name'>): string {
  return `${kindForTable(kind)}/${name}`;
}

/** `deployment/web in the namespace shop`, as errors name it. */
export function placedName(object: Named): string {
  return `${shortName(object)} in the namespace ${object.namespace}`;
}

/** `deployment.apps/web`, as `-o name` prints it. */
export function fullName({ kind, name }: Pick<Named, 'kind' | 'name'>): string {
  return `${kindForName(kind)}/${name}`;
}

/** `Secret/db` or `Secret/shop/db`, as tables show the API's sources of a workload. */
export function shortKey(key: string): string {
  const parts = key.split('/');
  return shortName({ kind: parts[0] ?? '', name: parts.at(-1) ?? '' });
}

/** A hash, shortened so that it still differs from others. */
export function shortHash(hash: string | null): string {
  if (hash === null) return '';
  const [scheme = '', rest] = hash.split('.', 2);
  return rest === undefined ? hash.slice(0, 12) : `${scheme}.${rest.slice(0, 10)}`;
}
