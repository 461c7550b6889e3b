/** Makes the objects of the world. */
import {
  CONFIDENTIAL,
  type KubeObject,
  type Letter,
  type PodTemplate,
  type SourceRef,
  type WorkloadRef,
} from './shapes.ts';

const SEARCH = 'reloader.stakater.com/search';

/** How a workload says what it depends on. */
export type Asking =
  | { readonly how: 'auto' }
  | { readonly how: 'named'; readonly sources: readonly SourceRef[] }
  | { readonly how: 'pattern' }
  | { readonly how: 'search' }
  | { readonly how: 'excluding'; readonly sources: readonly SourceRef[] }
  | { readonly how: 'nothing' };

const TYPE = { ConfigMap: 'configmap', Secret: 'secret' } as const;

function ofKind(sources: readonly SourceRef[], kind: 'ConfigMap' | 'Secret'): string {
  return sources
    .filter((ref) => ref.startsWith(`${kind}/`))
    .map((ref) => ref.slice(kind.length + 1))
    .join(',');
}

function perKind(sources: readonly SourceRef[], key: (type: string) => string): Record<string, string> {
  const entries = (['ConfigMap', 'Secret'] as const).map((kind) => [key(TYPE[kind]), ofKind(sources, kind)]);
  return Object.fromEntries(entries.filter(([, names]) => names !== '')) as Record<string, string>;
}

export function annotationsOf(asking: Asking): Record<string, string> {
  switch (asking.how) {
    case 'auto':
      return { 'reloader.stakater.com/auto': 'true' };
    case 'named':
      return perKind(asking.sources, (type) => `${type}.reloader.stakater.com/reload`);
    case 'pattern':
      return { 'configmap.reloader.stakater.com/reload': 'web-.*' };
    case 'search':
      return { [SEARCH]: 'true' };
    case 'excluding':
      return {
        'reloader.stakater.com/auto': 'true',
        ...perKind(asking.sources, (type) => `${type}s.exclude.reloader.stakater.com/reload`),
      };
    default:
      return {};
  }
}

export function sourceObject(ref: SourceRef, namespace: string, letter: Letter): KubeObject {
  const [kind = '', name = ''] = ref.split('/');
  const text = textOf(ref, letter);
  const value = kind === 'Secret' ? Buffer.from(text).toString('base64') : text;
  return { apiVersion: 'v1', kind, metadata: { name, namespace }, data: { value } };
}

function textOf(ref: SourceRef, letter: Letter): string {
  return `${CONFIDENTIAL}${ref.replace('/', '-')}-${letter}`;
}

/** The letter of the data that an object has. */
export function letterOf(object: KubeObject): Letter {
  const { value = '' } = object['data'] as { value?: string };
  const text = object.kind === 'Secret' ? Buffer.from(value, 'base64').toString() : value;
  return text.slice(-1) as Letter;
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
          volumeMounts: names('Secret').map((name) => ({ name, mountPath: `/etc/${name}` })),
        },
      ],
      volumes: names('Secret').map((secretName) => ({ name: secretName, secret: { secretName } })),
    },
  };
}

/** `version` is that of the image. */
export function workloadObject(
  ref: WorkloadRef,
  namespace: string,
  as: { refs: readonly SourceRef[]; asking: Asking; version: number },
): KubeObject {
  const [kind = '', name = ''] = ref.split('/');
  const metadata = { name, namespace, annotations: annotationsOf(as.asking) };
  const pod = template(as.refs, as.version);
  const selector = { matchLabels: { app: name } };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata,
    spec: { replicas: 1, selector, template: { ...pod, metadata: { labels: { app: name } } } },
  };
}

/** The pod template of a workload. */
export function templateOf(object: KubeObject): PodTemplate {
  return (object['spec'] as { template: PodTemplate }).template;
}
