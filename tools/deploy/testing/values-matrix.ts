import type { ChartValues } from '../render.ts';

const external = (values: ChartValues): ChartValues => ({ enabled: false, external: values });
const secret = { existingSecret: 'redis', existingSecretKeys: { username: 'user', password: 'password' } };
const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;

/** Part of every credential in these values, and of nothing else. */
export const CREDENTIAL = 'credential-0123456789';

/** Values that together reach every template and every branch of one, by what they are. */
export const VALUES_MATRIX: Readonly<Record<string, ChartValues>> = {
  'the default': {},
  'a scoped install': { reloader: { watchGlobally: false, namespaces: ['shop', 'billing'] } },
  'every optional kind': {
    reloader: {
      isArgoRollouts: true,
      isOpenshift: 'auto',
      enableCSIIntegration: true,
      namespaceSelector: 'team=a',
      resourceLabelSelector: 'reload=yes',
      enablePProf: true,
      rolloutDetails: true,
    },
    tests: { sourceLabels: { reload: 'yes' } },
  },
  'ConfigMaps, Jobs and CronJobs left alone': {
    reloader: { ignoreConfigMaps: true, ignoreJobs: true, ignoreCronJobs: true },
  },
  "admission policies for the worker's account": {
    worker: { admissionPolicy: { enabled: true, privilegedJobNamespaces: 'backup,ops' } },
    reloader: { cronJobStrategy: 'patch', watchKubeSystem: true, ignoreNamespaces: ['a'] },
  },
  'a volume for Redis': { redis: { persistence: { enabled: true, storageClass: 'fast' } } },
  'network policies, metrics and monitors': {
    networkPolicy: {
      enabled: true,
      apiServer: { cidrs: ['10.0.0.1/32'] },
      metrics: { from: [{ namespaceSelector: { matchLabels: { team: 'monitoring' } } }] },
      redis: { from: [{ namespaceSelector: { matchLabels: { team: 'keda' } } }] },
      extraEgress: [{ to: [{ ipBlock: { cidr: '10.1.0.0/16' } }] }],
    },
    reloader: {
      service: { port: 9090, labels: { a: 'b' }, annotations: { c: 'd' } },
      serviceMonitor: {
        enabled: true,
        interval: '30s',
        timeout: '10s',
        relabelings: [{ action: 'keep' }],
        bearerTokenFile: '/token',
        targetLabels: ['team'],
      },
      enableMetricsByNamespace: true,
    },
    prometheusRule: { enabled: true, alertLabels: { team: 'a' } },
    grafanaDashboard: { enabled: true },
  },
  'a PodMonitor': {
    reloader: {
      podMonitor: { enabled: true, interval: '30s', labels: { release: 'p' }, podTargetLabels: ['team'] },
    },
  },
  'workers scaled by CPU': {
    worker: { autoscaling: { enabled: true, behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } } },
    reloader: {
      verticalPodAutoscaler: {
        enabled: true,
        controlledResources: ['memory'],
        maxAllowed: { memory: '1Gi' },
      },
    },
  },
  'workers scaled by the queue': {
    worker: { keda: { enabled: true } },
    reloader: { clusterName: 'prod' },
  },
  'workers scaled by Prometheus': { worker: { keda: { enabled: true, prometheusAddress: 'http://p:9090' } } },
  'a Redis by its URL': { redis: external({ url: `rediss://:${CREDENTIAL}@redis.example:6380/1` }) },
  'a Redis by its URL in a Secret': {
    redis: external({ existingSecret: 'redis', existingSecretKeys: { url: 'url' } }),
    networkPolicy: { enabled: true, redis: { ports: [6380] } },
  },
  'a Redis in parts, with TLS and KEDA': {
    redis: external({
      host: 'redis.example',
      port: 6380,
      database: 3,
      ...secret,
      tls: { enabled: true, caSecret: 'ca', certSecret: 'cert' },
    }),
    worker: { keda: { enabled: true } },
    reloader: { clusterName: 'prod' },
    networkPolicy: { enabled: true, redis: { to: [{ ipBlock: { cidr: '10.2.0.0/16' } }] } },
  },
  'a Redis behind Sentinels': {
    redis: external({
      ...secret,
      sentinel: { hosts: ['s-0', 's-1:26380'], master: 'main', username: 'u', password: CREDENTIAL },
    }),
    worker: { keda: { enabled: true } },
    reloader: { clusterName: 'prod' },
    networkPolicy: { enabled: true },
  },
  'a Redis Cluster': {
    redis: external({ cluster: 'c-0,c-1:7000', username: 'u', password: CREDENTIAL }),
    worker: { keda: { enabled: true } },
    reloader: { clusterName: 'prod' },
    networkPolicy: { enabled: true },
  },
  'TLS of its Redis, and KEDA': {
    redis: { tls: { enabled: true } },
    worker: { keda: { enabled: true } },
    reloader: { clusterName: 'prod' },
  },
  'a Redis of yours, with a user for each component': {
    redis: external({
      host: 'redis.example',
      users: {
        watcher: { username: 'a', existingSecret: 'redis', existingSecretKey: 'a' },
        worker: { username: 'b', existingSecret: 'redis', existingSecretKey: 'b' },
        admin: { username: 'c', existingSecret: 'redis', existingSecretKey: 'c' },
      },
    }),
  },
  'a Redis without a volume, with keys and password of yours': {
    redis: {
      auth: { existingSecret: 'mine' },
      persistence: { enabled: false },
      config: 'save ""',
      podAnnotations: { a: 'b' },
      affinity: { podAntiAffinity: {} },
    },
    reloader: { hashKey: { existingSecret: 'keys' } },
  },
  'a registry, digests and pull secrets': {
    global: { imageRegistry: 'mirror.example', imagePullSecrets: ['pull', { name: 'other' }] },
    image: { digest },
    redis: { image: { digest } },
  },
  'alerts, a webhook and variables': {
    reloader: {
      webhookUrl: `https://hook.example/${CREDENTIAL}`,
      alerts: {
        onReload: true,
        sink: 'slack',
        webhookUrl: `https://chat.example/${CREDENTIAL}`,
        webhookProxy: `http://u:${CREDENTIAL}@proxy.example`,
        grouping: 'change',
      },
      deployment: {
        env: {
          open: { A: 'b' },
          secret: { C: CREDENTIAL },
          field: { IP: 'status.podIP' },
          existing: { mine: { E: 'key' } },
        },
      },
    },
    watcher: { extraArgs: ['--sweep-interval=30s'], extraEnv: [{ name: 'F', value: 'g' }] },
  },
  'everything that can be said of pods': {
    reloader: {
      deployment: {
        annotations: { a: 'b' },
        labels: { provider: 'stakater' },
        dnsConfig: { options: [{ name: 'ndots', value: '1' }] },
        hostUsers: false,
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        pod: { annotations: { a: 'b' } },
        priorityClassName: 'high',
        runtimeClassName: 'gvisor',
        schedulerName: 'mine',
        tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }],
        volumes: [{ name: 'tmp', emptyDir: {} }],
        volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
      },
      matchLabels: { team: 'a' },
      serviceAccount: { name: 'mine', annotations: { a: 'b' } },
      podDisruptionBudget: { enabled: true, minAvailable: '50%' },
    },
  },
  'an admin with TLS, tokens of its own, an Ingress and an HTTPRoute': {
    admin: {
      replicas: 2,
      auth: 'static',
      anonymous: 'read',
      staticTokens: { list: [{ name: 'ann', sha256: '0'.repeat(64), access: 'write', namespaces: ['*'] }] },
      tls: { existingSecret: 'certificate' },
      service: { type: 'LoadBalancer', port: 443, annotations: { a: 'b' } },
      ingress: {
        enabled: true,
        className: 'nginx',
        hosts: ['reroll.example'],
        tls: [{ secretName: 's', hosts: ['reroll.example'] }],
      },
      httpRoute: {
        enabled: true,
        parentRefs: [{ name: 'g' }],
        hostnames: ['reroll.example'],
        path: '/reroll',
      },
      extraArgs: ['--log-level=debug'],
      extraEnv: [{ name: 'F', value: 'g' }],
    },
    networkPolicy: { enabled: true, admin: { from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] } },
  },
  'a scoped install whose admin may ask whose a token is': {
    reloader: { watchGlobally: false },
    admin: { rbac: { clusterWide: true, aggregate: true } },
  },
  'one process, with all that can be said of it': {
    mode: 'standalone',
    standalone: { replicas: 2, extraArgs: ['--debounce=1s'], extraEnv: [{ name: 'F', value: 'g' }] },
    networkPolicy: { enabled: true, admin: { from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] } },
    worker: { admissionPolicy: { enabled: true } },
    reloader: {
      serviceMonitor: { enabled: true },
      verticalPodAutoscaler: { enabled: true },
      alerts: { onReload: true, webhookUrl: `https://chat.example/${CREDENTIAL}` },
    },
    prometheusRule: { enabled: true },
    admin: {
      auth: 'static',
      staticTokens: { list: [{ name: 'ann', sha256: '0'.repeat(64), access: 'read', namespaces: ['*'] }] },
      tls: { existingSecret: 'certificate' },
      ingress: { enabled: true, hosts: ['reroll.example'] },
    },
  },
  'one process in a scoped install': {
    mode: 'standalone',
    reloader: { watchGlobally: false, serviceAccount: { name: 'mine' }, podMonitor: { enabled: true } },
    admin: { rbac: { clusterWide: true } },
  },
  'one process without admin, and a Redis of yours with TLS': {
    mode: 'standalone',
    admin: { enabled: false },
    redis: external({ host: 'redis.example', ...secret, tls: { enabled: true, caSecret: 'ca' } }),
    reloader: { isOpenshift: true, podDisruptionBudget: { enabled: true, minAvailable: 1 } },
  },
  'no admin': { admin: { enabled: false } },
  'names that look like numbers, and an address for profiles': {
    namespace: '123',
    reloader: { enablePProf: true, pprofAddr: 'localhost:6061', watchGlobally: false, namespaces: '7' },
  },
};
