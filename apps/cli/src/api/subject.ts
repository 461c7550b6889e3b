import { placedName } from '../views/names.ts';

type Parts = Readonly<Record<string, unknown>>;

/** What a request asks for, in words of the user; undefined if that is not one thing. */
export function subjectOf(input: {
  readonly params?: unknown;
  readonly query?: unknown;
}): string | undefined {
  const { id, workload, ...named } = { ...(input.query as Parts), ...(input.params as Parts) };
  if (typeof id === 'string') return id;
  const [kind, namespace, name] = typeof workload === 'string' ? workload.split('/') : partsOf(named);
  if (kind === undefined || namespace === undefined || name === undefined) return undefined;
  return placedName({ kind, namespace, name });
}

function partsOf({ kind, namespace, name }: Parts): (string | undefined)[] {
  return [kind, namespace, name].map((part) => (typeof part === 'string' ? part : undefined));
}
