import type { Manifest } from './render.ts';

/** The one object of this kind and name. */
export function find(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.filter((each) => each.kind === kind && each.metadata.name === name);
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(`expected one ${kind} ${name}, found ${found.length}`);
  return only;
}

/** `<kind> <name>`; the name of the Job that makes Secrets without the hash of its template, in which it ends. */
export function titleOf(kind: string, name: string): string {
  return `${kind} ${name.replace(/(?<=-make-secrets)-[0-9a-f]{8}$/u, '')}`;
}

/** Without what only `helm test` makes. */
export function installed(manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === undefined);
}

/** What lies at a dotted path, where a number is a place in a list; undefined if nothing does. */
export function at(object: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inner, key) => (inner as Readonly<Record<string, unknown>> | undefined)?.[key], object);
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Of a container: `name=value`, or `name<-kind:what` if it comes from somewhere. */
export function variablesOf(container: unknown): readonly string[] {
  const variables = (at(container, 'env') ?? []) as readonly Variable[];
  return variables.map(({ name, value, valueFrom }) => {
    if (valueFrom === undefined) return `${name}=${value}`;
    const [[kind, from] = ['', {}]] = Object.entries(valueFrom);
    const what = from['fieldPath'] ?? `${from['name']}/${from['key']}`;
    return `${name}<-${kind}:${what}`;
  });
}

export interface Workload {
  readonly object: Manifest;
  readonly pod: unknown;
  readonly container: unknown;
  readonly args: readonly string[];
  readonly env: readonly string[];
}

/** A Deployment or StatefulSet, and its first container. */
export function workload(manifests: readonly Manifest[], component: string, fullname = 'reroll'): Workload {
  const kind = component === 'redis' ? 'StatefulSet' : 'Deployment';
  const object = find(manifests, kind, `${fullname}-${component}`);
  const pod = at(object, 'spec.template.spec');
  const container = at(pod, 'containers.0');
  const args = (at(container, 'args') ?? []) as readonly string[];
  return { object, pod, container, args, env: variablesOf(container) };
}

/** What the Job is told to make: its arguments after the role. None without the Job. */
export function madeSecrets(manifests: readonly Manifest[]): readonly string[] {
  const job = manifests.find(({ kind }) => kind === 'Job');
  const args = at(job, 'spec.template.spec.containers.0.args') as readonly string[] | undefined;
  return args?.slice(1) ?? [];
}
