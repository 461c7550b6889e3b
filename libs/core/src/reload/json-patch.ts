/** One operation of a JSON Patch (RFC 6902). */
export interface PatchOperation {
  readonly op: 'test' | 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

/**
 * Applies the operations to a copy of the value. Paths must exist, as in RFC 6902. Tests are assumed to hold, because the
 * operations were computed from this value.
 */
export function patched<T>(value: T, operations: readonly PatchOperation[]): T {
  const root = { '': structuredClone(value) as unknown };
  for (const operation of operations) apply(root, operation);
  return root[''] as T;
}

function apply(root: object, { op, path, value }: PatchOperation): void {
  if (op === 'test') return;
  const parts = path.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = parts.pop() ?? '';
  let at = root as Record<string, unknown>;
  for (const part of parts) {
    const next = at[part];
    if (typeof next !== 'object' || next === null) throw new RangeError(`expected a value at ${path}`);
    at = next as Record<string, unknown>;
  }
  if (op === 'remove') removeFrom(at, last);
  else if (Array.isArray(at) && last === '-') at.push(value);
  else at[last] = value;
}

function removeFrom(at: Record<string, unknown>, key: string): void {
  if (Array.isArray(at)) at.splice(Number(key), 1);
  else delete at[key];
}

/** Returns a JSON Pointer (RFC 6901) below `base`, with its parts escaped. */
export function pointer(base: string, ...parts: readonly (string | number)[]): string {
  return [base, ...parts.map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');
}
