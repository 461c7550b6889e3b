import type { Container, EnvVar, PodSpec, Volume } from '../model.ts';
import { refsOfVariable, refsOfVolume, type SourceRef } from './pod-uses.ts';

/** One reference to a source in a pod template. */
export interface SourceUse {
  /** `volume`, `projectedVolume` and `csiVolume` mean a mount if `container` is given. */
  readonly by: 'env' | 'envFrom' | 'volume' | 'projectedVolume' | 'csiVolume';
  /** Undefined: a volume that nothing mounts. */
  readonly container: string | undefined;
  readonly init: boolean;
  readonly name?: string;
}

/**
 * Returns every reference of a pod spec to a source: init containers last, then volumes that nothing mounts. `podUses` tells which
 * of them decide: of several volumes of one source, only the first counts.
 */
export function sourceUses(podSpec: PodSpec, source: SourceRef): SourceUse[] {
  const volumes = (podSpec.volumes ?? []).filter((volume) => refsOfVolume(volume).some(isMeant));
  const containers = [
    ...(podSpec.containers ?? []).map((container) => ({ container, init: false })),
    ...(podSpec.initContainers ?? []).map((container) => ({ container, init: true })),
  ];
  const used = containers.flatMap(({ container, init }) =>
    [...mounts(container, volumes), ...reads(container, isMeant)].map((use) => ({
      ...use,
      container: container.name,
      init,
    })),
  );
  const mounted = new Set(used.map(({ by, name }) => (isVolume(by) ? name : undefined)));
  const idle = volumes
    .filter(({ name }) => !mounted.has(name))
    .map((volume) => ({ by: kindOfVolume(volume), container: undefined, init: false, name: volume.name }));
  return [...used, ...idle];

  function isMeant(ref: SourceRef): boolean {
    return ref.kind === source.kind && ref.name === source.name;
  }
}

type Place = Pick<SourceUse, 'by' | 'name'>;

function mounts({ volumeMounts }: Container, volumes: readonly Volume[]): Place[] {
  const names = new Set((volumeMounts ?? []).map(({ name }) => name));
  return volumes
    .filter(({ name }) => names.has(name))
    .map((volume) => ({ by: kindOfVolume(volume), name: volume.name }));
}

function reads({ env, envFrom }: Container, isMeant: (ref: SourceRef) => boolean): Place[] {
  const variables = (env ?? []).filter((variable: EnvVar) => refsOfVariable(variable).some(isMeant));
  const whole = (envFrom ?? []).filter(
    ({ configMapRef, secretRef }) =>
      isMeant({ kind: 'ConfigMap', name: configMapRef?.name ?? '' }) ||
      isMeant({ kind: 'Secret', name: secretRef?.name ?? '' }),
  );
  return [
    ...variables.map(({ name }) => ({ by: 'env' as const, name })),
    ...whole.map(() => ({ by: 'envFrom' as const })),
  ];
}

function kindOfVolume({ csi, projected }: Volume): 'volume' | 'projectedVolume' | 'csiVolume' {
  if (csi) return 'csiVolume';
  return projected ? 'projectedVolume' : 'volume';
}

function isVolume(by: SourceUse['by']): boolean {
  return by !== 'env' && by !== 'envFrom';
}
