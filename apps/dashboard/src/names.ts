import { SOURCE_KINDS } from '@reroll/core/model';
/** A workload or a source by its parts. */
export interface Ref {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** `Deployment/shop/web`, as the API takes it. */
export function keyOf({ kind, namespace, name }: Ref): string {
  return `${kind}/${namespace}/${name}`;
}

/** The parts of a key that somebody wrote; undefined if it is none. */
export function refOf(key: string): Ref | undefined {
  const [kind, namespace, name, ...rest] = key.trim().split('/');
  return kind && namespace && name && rest.length === 0 ? { kind, namespace, name } : undefined;
}

/** `Deployment web in shop`, for sentences. */
export function spoken({ kind, namespace, name }: Ref): string {
  return `${kind} ${name} in ${namespace}`;
}

export function isSourceKind(kind: string): boolean {
  return SOURCE_KINDS.some((each) => each === kind);
}
