import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import type { Manifest } from '../kube.ts';
import { base64Values } from '../kube.ts';

interface DraftContainer {
  name: string;
  image: string;
  env?: unknown[];
  envFrom?: unknown[];
  volumeMounts?: unknown[];
}

interface Draft {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string>; annotations: Record<string, string> };
  spec: {
    replicas?: number;
    selector: unknown;
    strategy?: unknown;
    updateStrategy?: unknown;
    template: {
      metadata: { labels: Record<string, string>; annotations?: Record<string, string> };
      spec: {
        terminationGracePeriodSeconds: number;
        nodeSelector?: Record<string, string>;
        containers: DraftContainer[];
        initContainers?: DraftContainer[];
        volumes?: unknown[];
      };
    };
  };
}

/** Changes a workload that is being built. */
export type Modifier = (draft: Draft) => void;

/** A source as a workload names it: `cm` is a ConfigMap, `Secret/tls` a Secret. */
export type SourceRef = string;

export type Builder = (name: string, ...modifiers: readonly Modifier[]) => Manifest;

/** Without pods, unless `replicas` says otherwise; one container `app`, unless `withContainers` does. */
export const deployment: Builder = (name, ...modifiers) => workload('Deployment', name, modifiers);
export const statefulSet: Builder = (name, ...modifiers) => workload('StatefulSet', name, modifiers);
export const daemonSet: Builder = (name, ...modifiers) => workload('DaemonSet', name, modifiers);

/** These two need their CRDs: see `crds.ts`. */
export const argoRollout: Builder = (name, ...modifiers) => workload('Rollout', name, modifiers);
export const deploymentConfig: Builder = (name, ...modifiers) =>
  workload('DeploymentConfig', name, modifiers);

const API_VERSIONS: Readonly<Record<string, string>> = {
  Rollout: 'argoproj.io/v1alpha1',
  DeploymentConfig: 'apps.openshift.io/v1',
};

/** With a schedule that never comes. */
export const cronJob: Builder = (name, ...modifiers) => {
  const { kind, metadata, spec } = workload('CronJob', name, modifiers);
  const jobTemplate = { spec: { template: runToEnd(spec.template) } };
  return {
    apiVersion: 'batch/v1',
    kind,
    metadata,
    spec: { schedule: '0 0 30 2 *', jobTemplate },
  } as Manifest;
};

/** Its pod waits for a node that is not there; with `finishing` it runs to its end. */
export const job: Builder = (name, ...modifiers) => {
  const { kind, metadata, spec } = workload('Job', name, [waiting, ...modifiers]);
  return { apiVersion: 'batch/v1', kind, metadata, spec: { template: runToEnd(spec.template) } } as Manifest;
};

/** A Job that is done as soon as its pod was on a node. */
export function finishing(): Modifier {
  return ({ spec }) => void delete spec.template.spec.nodeSelector;
}

const waiting: Modifier = ({ spec }) => {
  spec.template.spec.nodeSelector = { e2e: 'nowhere' };
};

function runToEnd({ metadata, spec }: Draft['spec']['template']): object {
  const { app: _app, ...labels } = metadata.labels;
  return {
    metadata: { ...metadata, labels: { ...labels, made: 'by-the-spec' } },
    spec: { ...spec, restartPolicy: 'Never' },
  };
}

export const WORKLOAD_BUILDERS: Readonly<Record<string, Builder>> = {
  Deployment: deployment,
  StatefulSet: statefulSet,
  DaemonSet: daemonSet,
};

interface SourceMetadata {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

export function configMap(
  name: string,
  data: Readonly<Record<string, string>>,
  metadata: SourceMetadata = {},
): Manifest & { data: Readonly<Record<string, string>> } {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}

/** `data` in plain text. */
export function secret(
  name: string,
  data: Readonly<Record<string, string>>,
  metadata: SourceMetadata & { type?: string } = {},
): Manifest & { data: Readonly<Record<string, string>>; type: string } {
  const { type = 'Opaque', ...rest } = metadata;
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, ...rest }, type, data: base64Values(data) };
}

/** A source of either kind, by its reference. */
export function source(
  ref: SourceRef,
  data: Readonly<Record<string, string>>,
  metadata: SourceMetadata = {},
): Manifest {
  const { kind, name } = parse(ref);
  return kind === 'Secret' ? secret(name, data, metadata) : configMap(name, data, metadata);
}

/** `ConfigMap/cm` of `cm`. */
export function sourceName(ref: SourceRef): string {
  const { kind, name } = parse(ref);
  return `${kind}/${name}`;
}

export function withContainers(...names: readonly string[]): Modifier {
  return ({ spec }) => {
    spec.template.spec.containers = names.map(containerNamed);
  };
}

export function replicas(count: number): Modifier {
  return ({ kind, spec }) => {
    if (kind === 'DaemonSet') {
      if (count > 0) delete spec.template.spec.nodeSelector;
    } else spec.replicas = count;
  };
}

export function annotated(annotations: Readonly<Record<string, string>>): Modifier {
  return ({ metadata }) => void Object.assign(metadata.annotations, annotations);
}

export function podAnnotated(annotations: Readonly<Record<string, string>>): Modifier {
  return ({ spec }) => {
    spec.template.metadata.annotations = { ...spec.template.metadata.annotations, ...annotations };
  };
}

export function auto(): Modifier {
  return annotated({ [KEYS.auto]: 'true' });
}

export function searching(): Modifier {
  return annotated({ [KEYS.search]: 'true' });
}

/** What a source has to carry for `searching` workloads. */
export const MATCHING: SourceMetadata = { annotations: { [KEYS.match]: 'true' } };
/** What makes every workload leave a source alone. */
export const IGNORED: SourceMetadata = { annotations: { [KEYS.ignore]: 'true' } };

/** Names sources, or patterns of names, of one kind: `naming('a', 'b.*')`, `naming('Secret/tls')`. */
export function naming(...refs: readonly SourceRef[]): Modifier {
  return (draft) => {
    for (const kind of ['ConfigMap', 'Secret'] as const) {
      const names = refs
        .map(parse)
        .filter((ref) => ref.kind === kind)
        .map(({ name }) => name);
      const key = kind === 'Secret' ? KEYS.secretReload : KEYS.configMapReload;
      if (names.length > 0) draft.metadata.annotations[key] = names.join(',');
    }
  };
}

export function usingEnvFrom(ref: SourceRef, container = 'app'): Modifier {
  return (draft) => readAll(find(draft.spec.template.spec.containers, container), ref);
}

export function usingEnvKey(ref: SourceRef, container = 'app'): Modifier {
  return (draft) => readKey(find(draft.spec.template.spec.containers, container), ref);
}

export function usingVolume(ref: SourceRef, container = 'app'): Modifier {
  return (draft) => mount(draft, find(draft.spec.template.spec.containers, container), volume(ref));
}

export function usingProjectedVolume(ref: SourceRef, container = 'app'): Modifier {
  return (draft) => mount(draft, find(draft.spec.template.spec.containers, container), projected(ref));
}

export function usingEnvInInit(ref: SourceRef): Modifier {
  return (draft) => readAll(initContainer(draft), ref);
}

export function usingVolumeInInit(ref: SourceRef): Modifier {
  return (draft) => mount(draft, initContainer(draft), volume(ref));
}

/** A variable that is there from the start, for instance one that stakater/Reloader wrote. */
export function variable(name: string, value: string, container = 'app'): Modifier {
  return (draft) => {
    const found = find(draft.spec.template.spec.containers, container);
    found.env = [...(found.env ?? []), { name, value }];
  };
}

export function onDelete(): Modifier {
  return ({ spec }) => {
    spec.updateStrategy = { type: 'OnDelete' };
  };
}

function workload(kind: string, name: string, modifiers: readonly Modifier[]): Draft {
  const labels = { app: name };
  const draft: Draft = {
    apiVersion: API_VERSIONS[kind] ?? 'apps/v1',
    kind,
    metadata: { name, labels, annotations: {} },
    spec: {
      ...(kind === 'DaemonSet' ? {} : { replicas: 0 }),
      selector: kind === 'DeploymentConfig' ? labels : { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 0,
          ...(kind === 'DaemonSet' ? { nodeSelector: { e2e: 'nowhere' } } : {}),
          containers: [containerNamed('app')],
        },
      },
    },
  };
  for (const modify of modifiers) modify(draft);
  return draft;
}

function containerNamed(name: string): DraftContainer {
  return { name, image: 'registry.k8s.io/pause:3.10' };
}

function initContainer({ spec }: Draft): DraftContainer {
  spec.template.spec.initContainers ??= [containerNamed('init')];
  return find(spec.template.spec.initContainers, 'init');
}

function find(containers: readonly DraftContainer[], name: string): DraftContainer {
  const found = containers.find((container) => container.name === name);
  if (!found) throw new RangeError(`expected a container ${name}: put withContainers first`);
  return found;
}

function readAll(container: DraftContainer, ref: SourceRef): void {
  const { kind, name } = parse(ref);
  const reference = kind === 'Secret' ? { secretRef: { name } } : { configMapRef: { name } };
  container.envFrom = [...(container.envFrom ?? []), reference];
}

function readKey(container: DraftContainer, ref: SourceRef): void {
  const { kind, name } = parse(ref);
  const key = { name, key: 'key', optional: true };
  const valueFrom = kind === 'Secret' ? { secretKeyRef: key } : { configMapKeyRef: key };
  container.env = [...(container.env ?? []), { name: `FROM_${container.env?.length ?? 0}`, valueFrom }];
}

function volume(ref: SourceRef): unknown {
  const { kind, name } = parse(ref);
  return kind === 'Secret' ? { secret: { secretName: name } } : { configMap: { name } };
}

function projected(ref: SourceRef): unknown {
  const { kind, name } = parse(ref);
  const one = kind === 'Secret' ? { secret: { name } } : { configMap: { name } };
  return { projected: { sources: [one] } };
}

function mount({ spec }: Draft, container: DraftContainer, what: unknown): void {
  const pod = spec.template.spec;
  const name = `volume-${pod.volumes?.length ?? 0}`;
  pod.volumes = [...(pod.volumes ?? []), { name, ...(what as object) }];
  container.volumeMounts = [...(container.volumeMounts ?? []), { name, mountPath: `/etc/${name}` }];
}

function parse(ref: SourceRef): { kind: 'ConfigMap' | 'Secret'; name: string } {
  const slash = ref.indexOf('/');
  if (slash < 0) return { kind: 'ConfigMap', name: ref };
  const kind = ref.slice(0, slash);
  if (kind !== 'ConfigMap' && kind !== 'Secret') throw new RangeError(`expected a kind of source: ${ref}`);
  return { kind, name: ref.slice(slash + 1) };
}
