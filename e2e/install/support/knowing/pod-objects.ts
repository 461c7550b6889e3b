import { PAUSE } from '../../../../tools/cluster/src/node/place.ts';
import { KINDS, type PlannedContainer, type PlannedUse, type PodPlan, type SourceName } from './plans.ts';
import { REGISTRY } from './registry.ts';

/** Variables of a container that say which one it is. */
export const MARK = { name: 'WITNESS_NAME', role: 'WITNESS_ROLE' } as const;

/** The variable that holds what is used. */
export function variableOf({ by, source }: PlannedUse): string {
  return by === 'env' ? `env_${source}` : `from_${source}_value`;
}

/** The folder in which the file `value` holds what is used. */
export function folderOf({ by, source }: PlannedUse): string {
  return `/${by}/${source}`;
}

/** Its containers do nothing; what they see is read from outside. Without a network or token of its own a pod starts sooner. */
export function podOf(plan: PodPlan, name = plan.name): object {
  const { form, containers, lingers } = plan;
  const built = (isMeant: (role: PlannedContainer['role']) => boolean): object[] =>
    containers.filter(({ role }) => isMeant(role)).map((each) => containerOf(plan, each, name));
  return {
    metadata: { name },
    spec: {
      hostNetwork: true,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: lingers ? 8 : 1,
      initContainers: built((role) => role !== 'app'),
      containers: containers.length > 0 ? built((role) => role === 'app') : [idle(form, name)],
      volumes: containers.length > 0 ? volumesOf(containers) : csiVolumes(form),
      ...(form === 'imagePull' ? { imagePullSecrets: [{ name: 'pull' }] } : {}),
    },
  };
}

/** One that never runs. */
function idle(form: PodPlan['form'], pod: string): object {
  if (form === 'imagePull') return { name: 'app', image: `${REGISTRY}/${pod}:first` };
  return { name: 'app', image: PAUSE, volumeMounts: [{ name: 'keys', mountPath: '/keys' }] };
}

function csiVolumes(form: PodPlan['form']): object[] {
  if (form !== 'csiVolume') return [];
  const volumeAttributes = { secretProviderClass: 'keys' };
  return [{ name: 'keys', csi: { driver: 'secrets-store.csi.k8s.io', readOnly: true, volumeAttributes } }];
}

function containerOf({ form, lingers }: PodPlan, container: PlannedContainer, pod: string): object {
  const { name, role, uses } = container;
  const of = (by: PlannedUse['by']): readonly PlannedUse[] => uses.filter((use) => use.by === by);
  const mount = (use: PlannedUse): object =>
    use.by === 'volume'
      ? { name: volumeName(use), mountPath: folderOf(use) }
      : { name: volumeName(use), mountPath: `${folderOf(use)}/value`, subPath: 'value' };
  return {
    name,
    image: PAUSE,
    env: [
      { name: MARK.name, value: `${pod}/${name}` },
      { name: MARK.role, value: role },
      ...of('env').map((use) => ({ name: variableOf(use), valueFrom: keyRef(use) })),
    ],
    envFrom: of('envFrom').map((use) => ({ prefix: `from_${use.source}_`, ...sourceRef(use.source) })),
    volumeMounts: [...of('volume'), ...of('subPath')].map(mount),
    ...(role === 'sidecar' ? { restartPolicy: 'Always' } : {}),
    ...(form === 'unready' ? { readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: 3_600 } } : {}),
    ...(lingers && role === 'app' ? { lifecycle: { preStop: { sleep: { seconds: 5 } } } } : {}),
  };
}

function optional(source: SourceName): object {
  return source === 'extra' ? { optional: true } : {};
}

function keyRef({ source }: PlannedUse): object {
  const ref = { name: source, key: 'value', ...optional(source) };
  return KINDS[source] === 'Secret' ? { secretKeyRef: ref } : { configMapKeyRef: ref };
}

function sourceRef(source: SourceName): object {
  const ref = { name: source, ...optional(source) };
  return KINDS[source] === 'Secret' ? { secretRef: ref } : { configMapRef: ref };
}

function volumeName({ source, isProjected }: PlannedUse): string {
  return isProjected ? `${source}-projected` : source;
}

function volumesOf(containers: readonly PlannedContainer[]): object[] {
  const mounted = containers
    .flatMap(({ uses }) => uses)
    .filter(({ by }) => by === 'volume' || by === 'subPath')
    .map((use) => [volumeName(use), volumeOf(use)] as const);
  return [...new Map(mounted)].map(([name, volume]) => ({ name, ...volume }));
}

function volumeOf({ source, isProjected }: PlannedUse): object {
  const more = optional(source);
  const isSecret = KINDS[source] === 'Secret';
  if (isProjected)
    return {
      projected: {
        sources: [
          isSecret ? { secret: { name: source, ...more } } : { configMap: { name: source, ...more } },
        ],
      },
    };
  return isSecret ? { secret: { secretName: source, ...more } } : { configMap: { name: source, ...more } };
}
