import {
  MAX_NAME_LENGTH,
  type Container,
  type EnvVar,
  type PodSpec,
  type SourceKind,
  type Volume,
} from '../model.ts';

/** A source as a pod template refers to it, always in the workload's own namespace. */
export interface SourceRef {
  readonly kind: SourceKind;
  readonly name: string;
}

/** The uses of sources in a pod spec, gathered in one pass. */
export interface PodUses {
  /** Every source that the pod spec names, each once, used or not. */
  readonly candidates: SourceRef[];
  /** Returns the index of the container that carries the source's marker; null if no container uses it. */
  containerOf(source: SourceRef): number | null;
}

/** The index of the first container that has something, and what any init container has. */
interface Holders {
  readonly byContainer: Map<string, number>;
  readonly byInit: Set<string>;
}

/** The attribute of a CSI volume that names a SecretProviderClass. The driver's name does not matter. */
const PROVIDER_CLASS_ATTRIBUTE = 'secretProviderClass';

export function podUses(podSpec: PodSpec): PodUses {
  const containers = podSpec.containers ?? [];
  const candidates = new Map<string, SourceRef>();
  const volumeOf = new Map<string, string>();
  for (const volume of podSpec.volumes ?? []) {
    for (const ref of refsOfVolume(volume)) {
      candidates.set(keyOfRef(ref), ref);
      keepFirst(volumeOf, keyOfRef(ref), volume.name);
    }
  }
  const mounts = holders(podSpec, mountsOf);
  const reads = holders(podSpec, (container) => {
    const refs = refsOfEnvironment(container);
    for (const ref of refs) candidates.set(keyOfRef(ref), ref);
    return refs.map(keyOfRef);
  });
  const containerOf = (source: SourceRef): number | null => {
    if (containers.length === 0) return null;
    const key = keyOfRef(source);
    const volume = volumeOf.get(key);
    const mounting = volume === undefined ? null : firstHolder(mounts, volume);
    return mounting ?? firstHolder(reads, key);
  };
  return { candidates: [...candidates.values()], containerOf };
}

function holders(podSpec: PodSpec, has: (container: Container) => readonly string[]): Holders {
  const byContainer = new Map<string, number>();
  for (const [index, container] of (podSpec.containers ?? []).entries()) {
    for (const each of has(container)) keepFirst(byContainer, each, index);
  }
  return { byContainer, byInit: new Set((podSpec.initContainers ?? []).flatMap(has)) };
}

/** Containers come before init containers, whose markers the first container carries. */
function firstHolder({ byContainer, byInit }: Holders, what: string): number | null {
  return byContainer.get(what) ?? (byInit.has(what) ? 0 : null);
}

function mountsOf(container: Container): string[] {
  return (container.volumeMounts ?? []).map((mount) => mount.name);
}

export function refsOfVolume(volume: Volume): SourceRef[] {
  const projected = volume.projected?.sources ?? [];
  return [
    ...ref('ConfigMap', volume.configMap?.name),
    ...ref('Secret', volume.secret?.secretName),
    ...ref('SecretProviderClass', volume.csi?.volumeAttributes?.[PROVIDER_CLASS_ATTRIBUTE]),
    ...projected.flatMap((each) => ref('ConfigMap', each.configMap?.name)),
    ...projected.flatMap((each) => ref('Secret', each.secret?.name)),
  ];
}

function refsOfEnvironment(container: Container): SourceRef[] {
  return [
    ...(container.env ?? []).flatMap(refsOfVariable),
    ...(container.envFrom ?? []).flatMap((each) => [
      ...ref('ConfigMap', each.configMapRef?.name),
      ...ref('Secret', each.secretRef?.name),
    ]),
  ];
}

/** Returns the source that a variable is read from, if any. */
export function refsOfVariable({ valueFrom }: EnvVar): SourceRef[] {
  return [
    ...ref('ConfigMap', valueFrom?.configMapKeyRef?.name),
    ...ref('Secret', valueFrom?.secretKeyRef?.name),
  ];
}

/** None for a name that no object can have. The API server takes names of any length in a pod template. */
function ref(kind: SourceKind, name: string | undefined): SourceRef[] {
  return name && name.length <= MAX_NAME_LENGTH ? [{ kind, name }] : [];
}

function keyOfRef({ kind, name }: SourceRef): string {
  return `${kind}/${name}`;
}

function keepFirst<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (!map.has(key)) map.set(key, value);
}
