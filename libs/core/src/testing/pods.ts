import type { Container, EnvVar, PodSpec, Volume } from '../model.ts';

type ContainerStep = (container: Container) => Container;
type PodStep = (podSpec: PodSpec) => PodSpec;

/** Returns a pod spec without containers, changed by the steps. */
export function podSpec(...steps: readonly PodStep[]): PodSpec {
  return steps.reduce<PodSpec>((spec, step) => step(spec), {});
}

export function withContainer(name: string, ...steps: readonly ContainerStep[]): PodStep {
  return (spec) => ({ ...spec, containers: [...(spec.containers ?? []), container(name, steps)] });
}

export function withInitContainer(name: string, ...steps: readonly ContainerStep[]): PodStep {
  return (spec) => ({ ...spec, initContainers: [...(spec.initContainers ?? []), container(name, steps)] });
}

export function withVolume(name: string, kind: Omit<Volume, 'name'>): PodStep {
  return (spec) => ({ ...spec, volumes: [...(spec.volumes ?? []), { name, ...kind }] });
}

/** Sets a field that Kubernetes knows and Reroll does not read. */
export function withField(field: string, value: unknown): PodStep {
  return (spec) => ({ ...spec, [field]: value });
}

export function mounting(volume: string): ContainerStep {
  return (each) => ({ ...each, volumeMounts: [...(each.volumeMounts ?? []), { name: volume }] });
}

export function withEnv(...variables: readonly EnvVar[]): ContainerStep {
  return (each) => ({ ...each, env: [...(each.env ?? []), ...variables] });
}

export function withEnvFrom(...sources: NonNullable<Container['envFrom']>): ContainerStep {
  return (each) => ({ ...each, envFrom: [...(each.envFrom ?? []), ...sources] });
}

export function configMapKey(name: string): EnvVar {
  return { name: 'A', valueFrom: { configMapKeyRef: { name } } };
}

export function secretKey(name: string): EnvVar {
  return { name: 'B', valueFrom: { secretKeyRef: { name } } };
}

function container(name: string, steps: readonly ContainerStep[]): Container {
  return steps.reduce<Container>((each, step) => step(each), { name });
}
