/** The keys of the values.yaml of stakater/Reloader's chart, and where a spec says what each of them does here. */
import type { ChartValues } from '../render.ts';

/**
 * Every key of values.yaml of stakater/Reloader's chart 2.2.16 with its default, but for `image`: a values file that is a copy of that one
 * installs. What other values of these keys do: incumbent-values.spec.ts.
 */
export const DEFAULTS: ChartValues = {
  global: { imageRegistry: '', imagePullSecrets: [] },
  kubernetes: { host: 'https://kubernetes.default' },
  nameOverride: '',
  fullnameOverride: '',
  reloader: {
    autoReloadAll: false,
    isArgoRollouts: false,
    isOpenshift: false,
    ignoreSecrets: false,
    ignoreConfigMaps: false,
    ignoreJobs: false,
    ignoreCronJobs: false,
    reloadOnCreate: false,
    reloadOnDelete: false,
    syncAfterRestart: false,
    reloadStrategy: 'default',
    ignoreNamespaces: '',
    namespaceSelector: '',
    resourceLabelSelector: '',
    logFormat: '',
    logLevel: 'info',
    watchGlobally: true,
    namespaces: [],
    enableHA: false,
    enablePProf: false,
    pprofAddr: ':6060',
    enableCSIIntegration: false,
    readOnlyRootFileSystem: false,
    legacy: { rbac: false },
    matchLabels: {},
    enableMetricsByNamespace: false,
    webhookUrl: '',
    custom_annotations: {},
    deployment: {
      dnsConfig: {},
      replicas: 1,
      revisionHistoryLimit: 2,
      hostUsers: null,
      nodeSelector: {},
      affinity: {},
      volumeMounts: [],
      volumes: [],
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65534,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containerSecurityContext: {},
      tolerations: [],
      topologySpreadConstraints: [],
      annotations: {},
      labels: { provider: 'stakater', group: 'com.stakater.platform', version: 'v1.4.21' },
      env: { open: {}, secret: {}, field: {}, existing: {} },
      livenessProbe: {},
      readinessProbe: {},
      resources: {},
      pod: { annotations: {} },
      priorityClassName: '',
      runtimeClassName: '',
      schedulerName: '',
      gomaxprocsOverride: '',
      gomemlimitOverride: '',
    },
    service: {},
    rbac: { enabled: true, labels: {} },
    serviceAccount: { create: true, labels: {}, annotations: {}, name: '' },
    serviceMonitor: { enabled: false },
    podMonitor: { enabled: false },
    podDisruptionBudget: { enabled: false },
    netpol: { enabled: false, from: [], to: [] },
    verticalPodAutoscaler: { enabled: false, updatePolicy: { updateMode: 'Auto' } },
  },
};

/** Those of `image`, whose defaults would install stakater/Reloader. */
const IMAGE: ChartValues = { image: { name: '', repository: '', tag: '', digest: '', pullPolicy: '' } };

const VALUES = '`tools/deploy/incumbent-values.spec.ts` >';

/** Keys without a row in incumbent-values.spec.ts, each with its test. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  nameOverride: `${VALUES} nameOverride and fullnameOverride name every object`,
  fullnameOverride: `${VALUES} nameOverride and fullnameOverride name every object`,
  'reloader.deployment.resources': `${VALUES} deployment.resources take the place of both`,
  'reloader.deployment.topologySpreadConstraints': `${VALUES} deployment.topologySpreadConstraints take the place of the spread over nodes`,
  'reloader.isOpenshift': `${VALUES} isOpenshift gives rights, and leaves the ids of users to OpenShift`,
  'reloader.matchLabels': `${VALUES} matchLabels are labels and selectors of everything`,
  'reloader.namespaces': `${VALUES} watchGlobally false with namespaces, %s: that of the release too, sorted, and Roles only`,
  'reloader.netpol.from': '`tools/deploy/access/network-policy.spec.ts` > netpol.from and netpol.to',
  'reloader.netpol.to': '`tools/deploy/access/network-policy.spec.ts` > netpol.from and netpol.to',
  'reloader.verticalPodAutoscaler.updatePolicy.updateMode': `${VALUES} verticalPodAutoscaler has what it is given`,
  'reloader.watchGlobally': `${VALUES} watchGlobally false with namespaces, %s: that of the release too, sorted, and Roles only`,
};

/** Paths of all values, sorted: a list or an empty map is one value. */
export function keysOf(values: ChartValues, path = ''): readonly string[] {
  const keys = Object.entries(values).flatMap(([key, value]) => {
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    const isEmpty = !isMap || Object.keys(value).length === 0;
    return isEmpty ? [`${path}${key}`] : keysOf(value as ChartValues, `${path}${key}.`);
  });
  return keys.sort();
}

/** Keys of stakater/Reloader that none of these values sets. */
export function keysWithout(values: readonly ChartValues[]): readonly string[] {
  const set = values.flatMap((each) => keysOf(each));
  const isSet = (key: string): boolean => set.some((each) => each === key || each.startsWith(`${key}.`));
  return keysOf({ ...DEFAULTS, ...IMAGE }).filter((key) => !isSet(key));
}
