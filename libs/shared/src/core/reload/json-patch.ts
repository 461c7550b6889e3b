/** One operation of a JSON Patch (RFC 6902). */
export interface PatchOperation {
  readonly op: 'test' | 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

/** A JSON Pointer (RFC 6901) below `base`, its parts escaped. */
export function pointer(base: string, ...parts: readonly (string | number)[]): string {
  return [base, ...parts.map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');
}
