import { apiVersionOf, type KubeResource } from '@reroll/kube/objects';
import type { Reason } from '@reroll/core/reasons';
import { workloadKind } from '@reroll/kube/workloads/registry';

export const NAMESPACE = 'shop';
export const NODES = 3;

export const CONFIG_MAP = 'shop-settings';
export const SECRET = 'payment-keys';

export type Kind = 'ConfigMap' | 'Secret';

/** One workload of the shop. */
export interface Workload {
  readonly kind: 'Deployment' | 'StatefulSet' | 'DaemonSet';
  readonly name: string;
  readonly pods: number;
  /** How its pods take their configuration, in words. */
  readonly uses: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Which rule Reroll is expected to decide by when a source changes; none if it is not its business. */
  readonly rules: Readonly<Partial<Record<Kind, Reason>>>;
  readonly container: Readonly<Record<string, unknown>>;
  readonly volumes?: readonly unknown[];
}

const FROM_CONFIG_MAP = { configMapRef: { name: CONFIG_MAP } };
const FROM_SECRET = { secretRef: { name: SECRET } };
const MOUNTED = { volumeMounts: [{ name: 'settings', mountPath: '/etc/shop' }] };
const AUTO = { 'reloader.stakater.com/auto': 'true' };

/** Every way of using a source, every way of asking for reloads, and two that are not to be touched. */
export const WORKLOADS: readonly Workload[] = [
  {
    kind: 'Deployment',
    name: 'storefront',
    pods: 3,
    uses: 'the ConfigMap, by envFrom',
    annotations: AUTO,
    rules: { ConfigMap: 'AutoReload' },
    container: { envFrom: [FROM_CONFIG_MAP] },
  },
  {
    kind: 'Deployment',
    name: 'checkout',
    pods: 2,
    uses: 'one key of each',
    annotations: AUTO,
    rules: { ConfigMap: 'AutoReload', Secret: 'AutoReload' },
    container: {
      env: [
        { name: 'CURRENCY', valueFrom: { configMapKeyRef: { name: CONFIG_MAP, key: 'currency' } } },
        { name: 'API_KEY', valueFrom: { secretKeyRef: { name: SECRET, key: 'api-key' } } },
      ],
    },
  },
  {
    kind: 'StatefulSet',
    name: 'orders',
    pods: 2,
    uses: 'the Secret, as a volume',
    annotations: { 'secret.reloader.stakater.com/reload': SECRET },
    rules: { Secret: 'NamedByAnnotation' },
    container: MOUNTED,
    volumes: [{ name: 'settings', secret: { secretName: SECRET } }],
  },
  {
    kind: 'DaemonSet',
    name: 'log-agent',
    pods: NODES,
    uses: 'both, in a projected volume',
    annotations: AUTO,
    rules: { ConfigMap: 'AutoReload', Secret: 'AutoReload' },
    container: MOUNTED,
    volumes: [
      {
        name: 'settings',
        projected: { sources: [{ configMap: { name: CONFIG_MAP } }, { secret: { name: SECRET } }] },
      },
    ],
  },
  {
    kind: 'Deployment',
    name: 'search-index',
    pods: 1,
    uses: 'none (it asks the API)',
    annotations: { 'configmap.reloader.stakater.com/reload': 'shop-.*' },
    rules: { ConfigMap: 'NamedByAnnotation' },
    container: {},
  },
  {
    kind: 'Deployment',
    name: 'suggestions',
    pods: 1,
    uses: 'the ConfigMap, as a volume',
    annotations: { 'reloader.stakater.com/search': 'true' },
    rules: { ConfigMap: 'SearchMatch' },
    container: MOUNTED,
    volumes: [{ name: 'settings', configMap: { name: CONFIG_MAP } }],
  },
  {
    kind: 'Deployment',
    name: 'mailer',
    pods: 1,
    uses: 'both, by envFrom',
    annotations: { 'secret.reloader.stakater.com/auto': 'true' },
    rules: { ConfigMap: 'NotAnnotated', Secret: 'AutoReload' },
    container: { envFrom: [FROM_CONFIG_MAP, FROM_SECRET] },
  },
  {
    kind: 'Deployment',
    name: 'reports',
    pods: 1,
    uses: 'the ConfigMap, by envFrom',
    annotations: { ...AUTO, 'configmaps.exclude.reloader.stakater.com/reload': CONFIG_MAP },
    rules: { ConfigMap: 'SourceExcluded' },
    container: { envFrom: [FROM_CONFIG_MAP] },
  },
  {
    kind: 'Deployment',
    name: 'legacy-cart',
    pods: 1,
    uses: 'both, by envFrom',
    annotations: {},
    rules: { ConfigMap: 'NotAnnotated', Secret: 'NotAnnotated' },
    container: { envFrom: [FROM_CONFIG_MAP, FROM_SECRET] },
  },
];

const ROLLS: ReadonlySet<Reason> = new Set(['AutoReload', 'NamedByAnnotation', 'SearchMatch']);

/** Which of the changed sources are expected to reload it. */
export function reloadedBy({ rules }: Workload, changed: readonly Kind[]): Kind[] {
  return changed.filter((kind) => ROLLS.has(rules[kind] ?? 'NotAnnotated'));
}

const SHORT = { Deployment: 'deploy', StatefulSet: 'sts', DaemonSet: 'ds' } as const;

/** As kubectl takes it: `deploy/storefront`. */
export function shortNameOf({ kind, name }: Workload): string {
  return `${SHORT[kind]}/${name}`;
}

/** `<kind>/<namespace>/<name>`, as Reroll calls it. */
export function keyOf({ kind, name }: Pick<Workload, 'kind' | 'name'>): string {
  return `${kind}/${NAMESPACE}/${name}`;
}

export function resourceOf({ kind }: Workload): KubeResource {
  const definition = workloadKind(kind);
  if (!definition) throw new RangeError(`expected a kind that Reroll knows, given ${kind}`);
  return definition;
}

export function workloadManifest(workload: Workload): unknown {
  const { kind, name, annotations, container, volumes, pods } = workload;
  const labels = { app: name };
  const containers = [{ name: 'app', image: 'registry.k8s.io/pause:3.10', ...container }];
  const spec = { containers, terminationGracePeriodSeconds: 0, ...(volumes ? { volumes } : {}) };
  return {
    apiVersion: apiVersionOf(resourceOf(workload)),
    kind,
    metadata: { namespace: NAMESPACE, name, annotations, labels },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec },
      ...(kind === 'DaemonSet' ? {} : { replicas: pods }),
      ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
    },
  };
}

export function configMapManifest(): unknown {
  const annotations = { 'reloader.stakater.com/match': 'true' };
  const metadata = { namespace: NAMESPACE, name: CONFIG_MAP, annotations };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { currency: 'EUR', banner: 'Welcome' } };
}

export function secretManifest(): unknown {
  const metadata = { namespace: NAMESPACE, name: SECRET };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { 'api-key': 'demo-key-1' } };
}
