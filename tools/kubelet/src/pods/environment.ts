import { NotYet } from '../errors.ts';
import { podField, resourceField } from './fields.ts';
import type { Container, EnvFrom, EnvVar, Pod, Service } from '../types.ts';

/** Data of a ConfigMap or Secret of the pod's namespace, decoded; undefined: there is none of that name. */
export type ReadData = (
  kind: 'ConfigMap' | 'Secret',
  name: string,
) => Promise<ReadonlyMap<string, Buffer> | undefined>;

export interface EnvironmentOptions {
  readonly pod: Pod;
  readonly ip: string;
  readonly read: ReadData;
  /** Of all namespaces. */
  readonly services: readonly Service[];
}

/**
 * The variables of a container as a kubelet makes them: of Services, then `envFrom`, then `env`; later ones win.
 * @throws NotYet while something that it needs is missing.
 */
export async function environment(
  container: Container,
  options: EnvironmentOptions,
): Promise<Record<string, string>> {
  const found: Record<string, string> = serviceVariables(options.services, options.pod);
  for (const from of container.envFrom ?? []) Object.assign(found, await allOf(from, options.read));
  for (const variable of container.env ?? []) {
    const value = await valueOf(variable, { ...options, container, found });
    if (value !== undefined) found[variable.name] = value;
  }
  return found;
}

/** `$(NAME)` becomes the variable's value if there is one, `$$(NAME)` becomes `$(NAME)`. */
export function expand(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\$|\$\(([^)]*)\)/g, (whole, name: string | undefined) =>
    name === undefined ? '$' : (variables[name] ?? whole),
  );
}

/** Of the Services of the pod's namespace (unless it wants none) and of `kubernetes`. */
export function serviceVariables(services: readonly Service[], pod: Pod): Record<string, string> {
  const wanted = services.filter(({ metadata, spec }) => {
    if (['', 'None', undefined].includes(spec.clusterIP)) return false;
    if (metadata.namespace === 'default' && metadata.name === 'kubernetes') return true;
    return pod.spec.enableServiceLinks !== false && metadata.namespace === pod.metadata.namespace;
  });
  return Object.assign({}, ...wanted.map(variablesOf)) as Record<string, string>;
}

function variablesOf({ metadata, spec }: Service): Record<string, string> {
  const { clusterIP: ip = '', ports = [] } = spec;
  const prefix = metadata.name.toUpperCase().replaceAll('-', '_');
  const first = ports[0]?.port ?? 0;
  const found: Record<string, string> = {
    [`${prefix}_SERVICE_HOST`]: ip,
    [`${prefix}_SERVICE_PORT`]: String(first),
    [`${prefix}_PORT`]: `tcp://${ip}:${first}`,
  };
  for (const { name, port, protocol = 'TCP' } of ports) {
    if (name !== undefined) found[`${prefix}_SERVICE_PORT_${envName(name)}`] = String(port);
    const one = `${prefix}_PORT_${port}_${protocol}`;
    found[one] = `${protocol.toLowerCase()}://${ip}:${port}`;
    found[`${one}_PROTO`] = protocol.toLowerCase();
    found[`${one}_PORT`] = String(port);
    found[`${one}_ADDR`] = ip;
  }
  return found;
}

function envName(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}

async function allOf(from: EnvFrom, read: ReadData): Promise<Record<string, string>> {
  const kind = from.secretRef === undefined ? 'ConfigMap' : 'Secret';
  const { name = '', optional = false } = from.secretRef ?? from.configMapRef ?? {};
  const data = await read(kind, name);
  if (data === undefined && !optional) throw missing(`${kind} ${name}`);
  const entries = [...(data ?? [])].map(([key, value]) => [(from.prefix ?? '') + key, value.toString()]);
  return Object.fromEntries(entries) as Record<string, string>;
}

interface VariableOptions extends EnvironmentOptions {
  readonly container: Container;
  /** What the variables before it have come to. */
  readonly found: Readonly<Record<string, string>>;
}

async function valueOf(variable: EnvVar, options: VariableOptions): Promise<string | undefined> {
  const { valueFrom, value = '' } = variable;
  if (valueFrom === undefined) return expand(value, options.found);
  const { fieldRef, resourceFieldRef, secretKeyRef, configMapKeyRef } = valueFrom;
  if (fieldRef) return podField(options.pod, fieldRef.fieldPath, options.ip);
  if (resourceFieldRef) {
    return resourceField(options.pod.spec.containers, resourceFieldRef, options.container.name);
  }
  if (secretKeyRef) return await keyed('Secret', secretKeyRef, options.read);
  return await keyed('ConfigMap', configMapKeyRef ?? { key: '' }, options.read);
}

async function keyed(
  kind: 'ConfigMap' | 'Secret',
  ref: { name?: string; key: string; optional?: boolean },
  read: ReadData,
): Promise<string | undefined> {
  const found = (await read(kind, ref.name ?? ''))?.get(ref.key);
  if (found === undefined && ref.optional !== true) throw missing(`key ${ref.key} of ${kind} ${ref.name}`);
  return found?.toString();
}

function missing(what: string): NotYet {
  return new NotYet('CreateContainerConfigError', `${what} not found`);
}
