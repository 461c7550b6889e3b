import { isDeepStrictEqual } from 'node:util';

/** RFC 6902. */
export interface PatchOperation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** The patch does not apply to the document. */
export class PatchError extends Error {}

type Edit = (parent: unknown, key: string) => unknown;

function tokensOf(pointer: string | undefined): string[] {
  if (typeof pointer !== 'string' || !pointer.startsWith('/'))
    throw new PatchError('expected a JSON Pointer');
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function indexOf(list: readonly unknown[], key: string): number {
  const index = /^(0|[1-9]\d*)$/.test(key) ? Number(key) : -1;
  if (index < 0 || index >= list.length) throw new PatchError('expected an index of the list');
  return index;
}

function childOf(parent: unknown, key: string): unknown {
  if (Array.isArray(parent)) return parent[indexOf(parent, key)];
  if (!isRecord(parent)) throw new PatchError('a parent is missing');
  return Object.hasOwn(parent, key) ? parent[key] : undefined;
}

/** Returns a copy in which the child is another; shares everything else. */
function withChild(parent: unknown, key: string, child: unknown): unknown {
  if (Array.isArray(parent)) return parent.with(indexOf(parent, key), child);
  return { ...(parent as object), [key]: child };
}

function add(parent: unknown, key: string, value: unknown): unknown {
  if (Array.isArray(parent)) {
    const at = key === '-' || key === String(parent.length) ? parent.length : indexOf(parent, key);
    return parent.toSpliced(at, 0, value);
  }
  if (!isRecord(parent)) throw new PatchError('a parent is missing');
  return { ...parent, [key]: value };
}

function remove(parent: unknown, key: string): unknown {
  if (Array.isArray(parent)) return parent.toSpliced(indexOf(parent, key), 1);
  if (!isRecord(parent) || !Object.hasOwn(parent, key)) throw new PatchError('nothing to remove');
  const { [key]: _removed, ...rest } = parent;
  return rest;
}

/** In an object, a missing member is added, as in the API server. */
function replace(parent: unknown, key: string, value: unknown): unknown {
  if (!Array.isArray(parent) && !isRecord(parent)) throw new PatchError('a parent is missing');
  return withChild(parent, key, value);
}

/** Applies the edit to the parent of the last token. */
function edited(document: unknown, tokens: readonly string[], edit: Edit): unknown {
  const [first = '', ...rest] = tokens;
  if (rest.length === 0) return edit(document, first);
  const child = childOf(document, first);
  if (child === undefined || child === null) throw new PatchError('a parent is missing');
  const changed = edited(child, rest, edit);
  return changed === child ? document : withChild(document, first, changed);
}

function valueAt(document: unknown, tokens: readonly string[]): unknown {
  const found = tokens.reduce<unknown>((at, token) => childOf(at, token), document);
  if (found === undefined) throw new PatchError('nothing to copy');
  return found;
}

/** A missing member equals null, as in the API server; a missing parent does not. */
function test(document: unknown, { path, value = null }: PatchOperation): void {
  edited(document, tokensOf(path), (parent, key) => {
    if (!isDeepStrictEqual(childOf(parent, key) ?? null, value)) throw new PatchError('a test failed');
    return parent;
  });
}

function applied(document: unknown, operation: PatchOperation): unknown {
  const { op, path, from, value } = operation;
  const tokens = tokensOf(path);
  switch (op) {
    case 'add':
      return edited(document, tokens, (parent, key) => add(parent, key, value));
    case 'remove':
      return edited(document, tokens, remove);
    case 'replace':
      return edited(document, tokens, (parent, key) => replace(parent, key, value));
    case 'test':
      test(document, operation);
      return document;
    case 'copy':
    case 'move': {
      const source = tokensOf(from);
      const moved = valueAt(document, source);
      const rest = op === 'move' ? edited(document, source, remove) : document;
      return edited(rest, tokens, (parent, key) => add(parent, key, moved));
    }
    default:
      throw new PatchError('expected an operation of RFC 6902');
  }
}

/** Applies a JSON Patch; the document stays as it was. Throws a `PatchError` if an operation does not apply. */
export function jsonPatched(document: unknown, operations: readonly PatchOperation[]): unknown {
  return operations.reduce(applied, document);
}

/** Applies a merge patch (RFC 7386); the document stays as it was. */
export function mergePatched(document: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(document) ? { ...document } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatched(result[key], value);
  }
  return result;
}
