import { isDeepStrictEqual } from 'node:util';
import type { Manifest } from '../render.ts';
import { keyOf } from './objects.ts';

/** An operation of a JSON Patch (RFC 6902). */
export interface Operation {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: string;
  readonly value?: unknown;
}

/** What makes the objects of a base those of an overlay. */
export interface Difference {
  readonly added: readonly Manifest[];
  readonly removed: readonly Manifest[];
  readonly changed: readonly { readonly object: Manifest; readonly operations: readonly Operation[] }[];
}

export function differenceOf(base: readonly Manifest[], overlay: readonly Manifest[]): Difference {
  const before = new Map(base.map((object) => [keyOf(object), object]));
  const after = new Map(overlay.map((object) => [keyOf(object), object]));
  return {
    added: overlay.filter((object) => !before.has(keyOf(object))),
    removed: base.filter((object) => !after.has(keyOf(object))),
    changed: base.flatMap((object) => {
      const target = after.get(keyOf(object));
      const operations = target === undefined ? [] : operationsOf(object, target, '');
      return operations.length === 0 ? [] : [{ object, operations }];
    }),
  };
}

/** Lists of another length are replaced as a whole. */
function operationsOf(from: unknown, to: unknown, path: string): readonly Operation[] {
  if (isDeepStrictEqual(from, to)) return [];
  if (!isObject(from) || !isObject(to) || isOtherList(from, to)) return [{ op: 'replace', path, value: to }];
  const keys = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...keys].flatMap((key) => {
    const inner = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!(key in to)) return [{ op: 'remove', path: inner } as const];
    if (!(key in from)) return [{ op: 'add', path: inner, value: to[key] } as const];
    return operationsOf(from[key], to[key], inner);
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isOtherList(from: object, to: object): boolean {
  return Array.isArray(from) && (!Array.isArray(to) || from.length !== to.length);
}
