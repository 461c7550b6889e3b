import type { Container } from '../model.ts';
import { refsOfVariable, refsOfVolume, type SourceRef } from '../references/pod-uses.ts';
import type { UsingPod } from './pod.ts';

/** `volume`: without a subPath. `imagePull`: by the kubelet, for the whole pod. */
export const USE_KINDS = ['env', 'envFrom', 'volume', 'subPath', 'csiVolume', 'imagePull'] as const;
export type UseKind = (typeof USE_KINDS)[number];

export interface ContainerUse {
  readonly source: SourceRef;
  readonly by: UseKind;
  /** Null: the pod as a whole. */
  readonly container: string | null;
  readonly group: 'containers' | 'initContainers' | 'ephemeralContainers';
  /** An init container that ends before the others start. */
  readonly isInit: boolean;
}

const POD = { container: null, group: 'containers', isInit: false } as const;

type IsMeant = (source: SourceRef) => boolean;

/**
 * Returns each way in which each container of a pod uses each source that is meant, once. A volume is looked through once, however
 * often it is mounted: so the work grows with the size of the pod spec and the number of uses that are returned.
 */
export function containerUses(
  { spec }: Pick<UsingPod, 'spec'>,
  isMeant: IsMeant = () => true,
): ContainerUse[] {
  const found = new Map<string, ContainerUse>();
  const add = (use: ContainerUse): void => {
    const { source, by, container, group } = use;
    found.set([group, container, by, source.kind, source.name].join('/'), use);
  };
  const volumes = volumesOf(spec, isMeant);
  for (const group of ['containers', 'initContainers', 'ephemeralContainers'] as const) {
    for (const container of spec[group] ?? []) {
      const isInit = group === 'initContainers' && container.restartPolicy !== 'Always';
      const uses = [...readBy(container, isMeant), ...mountedBy(container, volumes)];
      for (const use of uses) add({ ...use, container: container.name, group, isInit });
    }
  }
  for (const source of pulledWith(spec).filter(isMeant)) add({ source, by: 'imagePull', ...POD });
  return [...found.values()];
}

function pulledWith({ imagePullSecrets }: UsingPod['spec']): SourceRef[] {
  return (imagePullSecrets ?? []).flatMap(({ name }) => (name ? [{ kind: 'Secret', name }] : []));
}

type Use = Pick<ContainerUse, 'source' | 'by'>;

interface SourceVolume {
  readonly isCsi: boolean;
  readonly sources: readonly SourceRef[];
}

/** Those that have a source that is meant, by name. */
function volumesOf({ volumes }: UsingPod['spec'], isMeant: IsMeant): ReadonlyMap<string, SourceVolume> {
  const found = new Map<string, SourceVolume>();
  for (const volume of volumes ?? []) {
    const sources = refsOfVolume(volume).filter(isMeant);
    if (sources.length > 0) found.set(volume.name, { isCsi: Boolean(volume.csi), sources });
  }
  return found;
}

function readBy({ env, envFrom }: Container, isMeant: IsMeant): Use[] {
  const read = (env ?? []).flatMap(refsOfVariable);
  const whole = (envFrom ?? []).flatMap(({ configMapRef, secretRef }): SourceRef[] => [
    ...(configMapRef?.name ? [{ kind: 'ConfigMap', name: configMapRef.name } as const] : []),
    ...(secretRef?.name ? [{ kind: 'Secret', name: secretRef.name } as const] : []),
  ]);
  return [
    ...read.filter(isMeant).map((source) => ({ source, by: 'env' as const })),
    ...whole.filter(isMeant).map((source) => ({ source, by: 'envFrom' as const })),
  ];
}

function mountedBy({ volumeMounts }: Container, volumes: ReadonlyMap<string, SourceVolume>): Use[] {
  const mounted = new Map<string, readonly Use[]>();
  for (const { name, subPath, subPathExpr } of volumeMounts ?? []) {
    const volume = volumes.get(name);
    if (volume === undefined) continue;
    const isPart = Boolean(subPath) || Boolean(subPathExpr);
    const by = volume.isCsi ? 'csiVolume' : isPart ? 'subPath' : 'volume';
    const key = `${by}/${name}`;
    if (!mounted.has(key))
      mounted.set(
        key,
        volume.sources.map((source) => ({ source, by })),
      );
  }
  return [...mounted.values()].flat();
}
