import type { Container } from '../model.ts';
import { refsOfVariable, refsOfVolume, type SourceRef } from '../references/pod-uses.ts';
import type { UsingPod } from './pod.ts';

/** `volume`: without a subPath. `imagePull`: by the kubelet, for the whole pod. */
export type UseKind = 'env' | 'envFrom' | 'volume' | 'subPath' | 'csiVolume' | 'imagePull';

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

/** Returns each way in which each container of a pod uses each source, once. */
export function containerUses({ spec }: Pick<UsingPod, 'spec'>): ContainerUse[] {
  const found = new Map<string, ContainerUse>();
  const add = (use: ContainerUse): void => {
    const { source, by, container, group } = use;
    found.set([group, container, by, source.kind, source.name].join('/'), use);
  };
  for (const group of ['containers', 'initContainers', 'ephemeralContainers'] as const) {
    for (const container of spec[group] ?? []) {
      const isInit = group === 'initContainers' && container.restartPolicy !== 'Always';
      for (const use of usesOf(container, spec)) add({ ...use, container: container.name, group, isInit });
    }
  }
  for (const { name } of spec.imagePullSecrets ?? []) {
    if (name) add({ source: { kind: 'Secret', name }, by: 'imagePull', ...POD });
  }
  return [...found.values()];
}

type Use = Pick<ContainerUse, 'source' | 'by'>;

function usesOf({ env, envFrom, volumeMounts }: Container, { volumes }: UsingPod['spec']): Use[] {
  const read = (env ?? []).flatMap(refsOfVariable);
  const whole = (envFrom ?? []).flatMap(({ configMapRef, secretRef }): SourceRef[] => [
    ...(configMapRef?.name ? [{ kind: 'ConfigMap', name: configMapRef.name } as const] : []),
    ...(secretRef?.name ? [{ kind: 'Secret', name: secretRef.name } as const] : []),
  ]);
  const mounted = (volumeMounts ?? []).flatMap(({ name, subPath, subPathExpr }): Use[] => {
    const volume = volumes?.find((each) => each.name === name);
    if (volume === undefined) return [];
    const isPart = Boolean(subPath) || Boolean(subPathExpr);
    const by = volume.csi ? 'csiVolume' : isPart ? 'subPath' : 'volume';
    return refsOfVolume(volume).map((source) => ({ source, by }));
  });
  return [
    ...read.map((source) => ({ source, by: 'env' as const })),
    ...whole.map((source) => ({ source, by: 'envFrom' as const })),
    ...mounted,
  ];
}
