/** Makes the objects of the world. */
import { WATCHED } from './scope.ts';
import { CONFIDENTIAL, type KubeObject, type Letter, type PodTemplate, type SourceRef } from './shapes.ts';

const AUTO = 'reloader.stakater.com/auto';
const CONFIG_MAPS = 'configmap.reloader.stakater.com/reload';
const SEARCH = 'reloader.stakater.com/search';
export const IGNORE = 'reloader.stakater.com/ignore';
export const STRATEGY = 'reloader.stakater.com/rollout-strategy';
/** Says nothing to Reroll, but takes the room that its own annotations need. */
export const FILLER = 'example.com/text';
/** Less than the 256 KiB that Kubernetes allows, by less than Reroll leaves free (docs/guide/use.md, `AnnotationsFull`). */
const FILLER_BYTES = 258_500;
/** One more than `--max-list-words` allows. */
const TOO_MANY_WORDS = 1_001;

/** How a workload says what it depends on, and a Rollout how it is reloaded. */
export type Asking = How & {
  /** A Rollout is restarted by `restartAt`. */
  readonly restart?: boolean;
};

type How =
  | { readonly how: 'auto' }
  | { readonly how: 'named'; readonly sources: readonly SourceRef[] }
  | { readonly how: 'pattern' }
  | { readonly how: 'search' }
  /** `auto` for one kind, or for one although not in general. */
  | { readonly how: 'autoOfSecrets' | 'autoOfConfigMapsOnly' | 'notAuto' }
  /** By name what it may not even use, and whatever it uses. */
  | { readonly how: 'namedAndAuto'; readonly sources: readonly SourceRef[] }
  | { readonly how: 'excluding'; readonly sources: readonly SourceRef[] }
  /** With a pattern that cannot be read, and a name; with nothing that can be read; beyond a limit; without room for a record. */
  | { readonly how: 'partlyReadable' | 'unreadable' | 'excessive' | 'full' }
  | { readonly how: 'nothing' };

/** How annotations name a kind of source, one and several. */
const TYPES: Readonly<Record<string, { readonly one: string; readonly several: string }>> = {
  ConfigMap: { one: 'configmap', several: 'configmaps' },
  Secret: { one: 'secret', several: 'secrets' },
  SecretProviderClass: { one: 'secretproviderclass', several: 'secretproviderclasses' },
};

/** Throws a `RangeError` for a kind that is no source. */
export function typeOf(kind: string): { readonly one: string; readonly several: string } {
  const found = TYPES[kind];
  if (!found) throw new RangeError(`expected a kind of source, given ${kind}`);
  return found;
}

function ofKind(sources: readonly SourceRef[], kind: string): string {
  return sources
    .filter((ref) => ref.startsWith(`${kind}/`))
    .map((ref) => ref.slice(kind.length + 1))
    .join(',');
}

function perKind(
  sources: readonly SourceRef[],
  key: (type: { one: string; several: string }) => string,
): Record<string, string> {
  const entries = Object.entries(TYPES).map(([kind, type]) => [key(type), ofKind(sources, kind)]);
  return Object.fromEntries(entries.filter(([, names]) => names !== '')) as Record<string, string>;
}

export function annotationsOf(asking: Asking): Record<string, string> {
  return { ...dependenciesBy(asking), ...(asking.restart ? { [STRATEGY]: 'restart' } : {}) };
}

/** By those who name no source. */
const FIXED: Readonly<Record<Exclude<How, { sources: unknown }>['how'], Readonly<Record<string, string>>>> = {
  auto: { [AUTO]: 'true' },
  pattern: { [CONFIG_MAPS]: 'web-.*' },
  search: { [SEARCH]: 'true' },
  autoOfSecrets: { [`secret.${AUTO}`]: 'true' },
  autoOfConfigMapsOnly: { [`configmap.${AUTO}`]: 'true', [AUTO]: 'false' },
  notAuto: { [AUTO]: 'false' },
  partlyReadable: { [CONFIG_MAPS]: '[,app' },
  unreadable: { [CONFIG_MAPS]: '[' },
  excessive: { [AUTO]: 'true', [CONFIG_MAPS]: Array(TOO_MANY_WORDS).fill('app').join(',') },
  full: { [AUTO]: 'true', [FILLER]: 'x'.repeat(FILLER_BYTES) },
  nothing: {},
};

function dependenciesBy(asking: How): Readonly<Record<string, string>> {
  switch (asking.how) {
    case 'named':
      return perKind(asking.sources, ({ one }) => `${one}.reloader.stakater.com/reload`);
    case 'namedAndAuto':
      return { [AUTO]: 'true', ...dependenciesBy({ ...asking, how: 'named' }) };
    case 'excluding':
      return {
        [AUTO]: 'true',
        ...perKind(asking.sources, ({ several }) => `${several}.exclude.reloader.stakater.com/reload`),
      };
    default:
      return FIXED[asking.how];
  }
}

/** Whether the annotations leave no room for what a reload adds. */
export function isFull({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[FILLER] !== undefined;
}

/** Whether the workload asks for more than the limits allow, and so for nothing. */
export function isExcessive({ metadata }: KubeObject): boolean {
  return (metadata.annotations?.[CONFIG_MAPS] ?? '').split(',').length >= TOO_MANY_WORDS;
}

export function sourceObject(ref: SourceRef, namespace: string, letter: Letter): KubeObject {
  const [kind = '', name = ''] = ref.split('/');
  const metadata = { name, namespace, labels: WATCHED };
  return { apiVersion: 'v1', kind, metadata, data: dataOf(ref, letter) };
}

export function dataOf(ref: string, letter: Letter): Readonly<Record<string, string>> {
  const text = textOf(ref, letter);
  const [kind, name = ''] = ref.split('/');
  if (kind === 'Secret') return { value: Buffer.from(text).toString('base64') };
  return kind === 'ConfigMap' ? { value: text } : { value: text, SecretProviderClassName: name };
}

function textOf(ref: string, letter: Letter): string {
  return `${CONFIDENTIAL}${ref.replace('/', '-')}-${letter}`;
}

/** The letter of the data that an object has. */
export function letterOf(object: KubeObject): Letter {
  const { value = '' } = object['data'] as { value?: string };
  const text = object.kind === 'Secret' ? Buffer.from(value, 'base64').toString() : value;
  return text.slice(-1) as Letter;
}

/** That of a source that may not be there. */
export function letterAt(source: KubeObject | undefined): Letter | undefined {
  return source && letterOf(source);
}

/** `source`: `<kind>/<namespace>/<name>`. */
export function isClass(source: string): boolean {
  return source.startsWith('SecretProviderClass/');
}

function mounting(secretProviderClass: string): object {
  return { driver: 'secrets-store.csi.k8s.io', volumeAttributes: { secretProviderClass } };
}

function template(refs: readonly SourceRef[], version: number): PodTemplate {
  const names = (kind: string): string[] =>
    refs.filter((ref) => ref.startsWith(`${kind}/`)).map((ref) => ref.slice(kind.length + 1));
  return {
    spec: {
      containers: [
        {
          name: 'main',
          image: `app:${version}`,
          envFrom: names('ConfigMap').map((name) => ({ configMapRef: { name } })),
          volumeMounts: [...names('Secret'), ...names('SecretProviderClass')].map((name) => ({
            name,
            mountPath: `/etc/${name}`,
          })),
        },
      ],
      volumes: [
        ...names('Secret').map((secretName) => ({ name: secretName, secret: { secretName } })),
        ...names('SecretProviderClass').map((name) => ({ name, csi: mounting(name) })),
      ],
    },
  };
}

export interface WorkloadAs {
  readonly refs: readonly SourceRef[];
  readonly asking: Asking;
  /** That of the image. */
  readonly version: number;
}

/** The Rollouts of these names have the pod template of the Deployment with the first of them. */
const REFERRING = ['front', 'back'];

type SpecOf = (pod: object, metadata: Pick<KubeObject['metadata'], 'name' | 'annotations'>) => object;

const withReplicas: SpecOf = (pod, { name }) => ({
  replicas: 1,
  selector: { matchLabels: { app: name } },
  template: pod,
});

const KINDS: Readonly<Record<string, { readonly apiVersion: string; readonly spec: SpecOf }>> = {
  Deployment: { apiVersion: 'apps/v1', spec: withReplicas },
  StatefulSet: { apiVersion: 'apps/v1', spec: withReplicas },
  DaemonSet: { apiVersion: 'apps/v1', spec: withReplicas },
  Rollout: {
    apiVersion: 'argoproj.io/v1alpha1',
    spec: (pod, metadata) =>
      REFERRING.includes(metadata.name)
        ? { replicas: 1, workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: REFERRING[0] } }
        : withReplicas(pod, metadata),
  },
  CronJob: {
    apiVersion: 'batch/v1',
    // Its Jobs ask as it does, and are left alone all the same.
    spec: (pod, { annotations }) => ({
      schedule: '0 0 1 1 *',
      jobTemplate: { metadata: { annotations }, spec: { template: pod } },
    }),
  },
  Job: { apiVersion: 'batch/v1', spec: (pod) => ({ template: pod }) },
};

export function workloadObject(
  { kind, namespace, name }: { kind: string; namespace: string; name: string },
  as: WorkloadAs,
): KubeObject {
  const { apiVersion = '', spec = withReplicas } = KINDS[kind] ?? {};
  const metadata = { name, namespace, annotations: annotationsOf(as.asking) };
  const pod = { ...template(as.refs, as.version), metadata: { labels: { app: name } } };
  return { apiVersion, kind, metadata, spec: spec(pod, metadata) };
}

/** The pod template that a workload itself has. */
export function templateOf(object: KubeObject): PodTemplate | undefined {
  const { template: own, jobTemplate } = object['spec'] as {
    template?: PodTemplate;
    jobTemplate?: { spec: { template: PodTemplate } };
  };
  return jobTemplate?.spec.template ?? own;
}
