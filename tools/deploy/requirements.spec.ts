import { describe, expect, it } from 'vitest';
import { externalRedis, refusalOf, renderChart, type ChartValues } from './render.ts';

const USER = { username: 'u', existingSecret: 's' };
const USERS = { watcher: USER, worker: USER, admin: USER };

const TOKEN = { name: 'ann', sha256: 'a'.repeat(64), access: 'read', namespaces: ['*'] };

/** What is wrong, the values, and what helm says. */
const REFUSED: readonly (readonly [string, ChartValues, string])[] = [
  [
    "the image of stakater/Reloader in its chart's value",
    { image: { repository: 'ghcr.io/stakater/reloader' } },
    'image names ghcr.io/stakater/reloader, which is the program of stakater/Reloader: take image.name and image.repository out, or name an image of Reroll.',
  ],
  [
    'its name below a registry',
    { image: { name: 'stakater/reloader' } },
    'image names stakater/reloader, which is the program of stakater/Reloader',
  ],
  [
    'a version of stakater/Reloader',
    { image: { tag: 'v1.4.21' } },
    'image.tag is v1.4.21, which is a version of stakater/Reloader (those of Reroll begin with a digit): take it out.',
  ],
  [
    'restart windows of stakater/Reloader',
    { reloader: { enableRestartWindows: true } },
    'reloader.enableRestartWindows is not supported: take it out, and set reloader.reloadWindow, or the annotation reroll.dev/window on workloads.',
  ],
  [
    'the image of an earlier chart of stakater/Reloader',
    { reloader: { deployment: { image: { name: 'stakater/reloader', tag: 'v0.0.125' } } } },
    "reloader.deployment.image is set, which names the image of stakater/Reloader in its earlier charts: take it out, and set image.repository and image.tag if you have a copy of Reroll's image.",
  ],
  [
    'no path below a registry',
    { global: { imageRegistry: 'r.example' }, image: { name: '' } },
    'image.name is "", and below global.imageRegistry (r.example) that is no image: give a path without a tag, such as reroll/reroll.',
  ],
  [
    'a path with a tag',
    { image: { repository: 'r.example:5000/reroll:1.0.0' } },
    'image.repository is "r.example:5000/reroll:1.0.0", which is no image: give a registry and a path without a tag, such as ghcr.io/reroll/reroll.',
  ],
  [
    'a digest that is none',
    { image: { digest: 'sha256:abc' } },
    'image.digest is sha256:abc: give sha256: and 64 digits and letters.',
  ],
  [
    'namespaces of an install that watches all',
    { reloader: { namespaces: ['a'] } },
    'reloader.namespaces is for scoped installs: set reloader.watchGlobally to false, or leave reloader.namespaces empty.',
  ],
  [
    'a namespace that is none',
    { reloader: { watchGlobally: false, namespaces: 'shop,team-*' } },
    'reloader.namespaces holds "team-*", which is no name of a namespace: give names, not patterns.',
  ],
  [
    'a namespace to ignore that is none',
    { reloader: { ignoreNamespaces: 'shop,team-*' } },
    'reloader.ignoreNamespaces holds "team-*", which is no name of a namespace: give names, not patterns.',
  ],
  [
    'nothing left to watch',
    { reloader: { ignoreSecrets: true, ignoreConfigMaps: true } },
    'reloader.ignoreSecrets and reloader.ignoreConfigMaps leave nothing to watch: set one of them to false.',
  ],
  [
    'a hash with a key and no key',
    { reloader: { hash: 'hmac-sha256', hashKey: { enabled: false } } },
    'reloader.hash is hmac-sha256, which needs a key: set reloader.hashKey.enabled to true.',
  ],
  [
    'alerts to nowhere',
    { reloader: { alerts: { onReload: true } } },
    'reloader.alerts.onReload needs to know where to: set reloader.alerts.webhookUrl, or ALERT_WEBHOOK_URL in reloader.deployment.env.',
  ],
  [
    'a duration out of its range',
    { reloader: { lease: { duration: '500ms' } } },
    'reloader.lease.duration is "500ms": give a duration such as 500ms, 1h30m or 7d, from 1s to 1h.',
  ],
  [
    'a Lease that ends within a second',
    { reloader: { lease: { duration: '15.5s' } } },
    'reloader.lease.duration is 15.5s: give whole seconds.',
  ],
  [
    'a leader that steps down after others take over',
    { reloader: { lease: { duration: '10s' } } },
    'reloader.lease.duration has to be longer than reloader.lease.renewDeadline',
  ],
  [
    'a leader that tries only once',
    { reloader: { lease: { retryPeriod: '9s' } } },
    'reloader.lease.renewDeadline has to be longer than 1.2 times reloader.lease.retryPeriod',
  ],
  [
    'no ServiceAccount and no name of one',
    { reloader: { serviceAccount: { create: false } } },
    'reloader.serviceAccount.create is false: say in reloader.serviceAccount.name which one there is.',
  ],
  [
    'no ServiceAccount for Redis and no name of one',
    { redis: { serviceAccount: { create: false } } },
    'redis.serviceAccount.create is false: say in redis.serviceAccount.name which one there is.',
  ],
  [
    'no ServiceAccount for the Job that makes Secrets and no name of one',
    { makeSecrets: { serviceAccount: { create: false } } },
    'makeSecrets.serviceAccount.create is false: say in makeSecrets.serviceAccount.name which one there is.',
  ],
  [
    'an admin that may make Secrets',
    { makeSecrets: { serviceAccount: { name: 'mine' } }, admin: { serviceAccount: { name: 'mine' } } },
    'makeSecrets.serviceAccount.name is "mine", which other pods have too: give it another, because it may make Secrets.',
  ],
  [
    'a grace period shorter than the end may take',
    { worker: { terminationGracePeriodSeconds: 60 }, reloader: { shutdownTimeout: '1m30s' } },
    'worker.terminationGracePeriodSeconds is 60, and the end may take 90s: make it longer than reloader.shutdownTimeout.',
  ],
  [
    'a budget with both bounds',
    { watcher: { podDisruptionBudget: { minAvailable: 1, maxUnavailable: 1 } } },
    'watcher.podDisruptionBudget has minAvailable and maxUnavailable: leave one of them empty.',
  ],
  [
    'profiles on the port of the metrics',
    { reloader: { enablePProf: true, pprofAddr: ':9090' } },
    'reloader.pprofAddr has the port of reloader.metricsPort: give it another.',
  ],
  [
    'an admin with the rights of a worker',
    { reloader: { serviceAccount: { name: 'mine' } }, admin: { serviceAccount: { name: 'mine' } } },
    'admin.serviceAccount.name is that of watcher and worker, which may read Secrets: give it another.',
  ],
  [
    'an admin with the name that the account of watcher and worker gets by default',
    { admin: { serviceAccount: { name: 'reroll-worker' } } },
    'admin.serviceAccount.name is that of watcher and worker, which may read Secrets: give it another.',
  ],
  [
    'watcher and worker with the name that the account of admin gets by default',
    { reloader: { serviceAccount: { create: false, name: 'reroll-admin' } } },
    'admin.serviceAccount.name is that of watcher and worker, which may read Secrets: give it another.',
  ],
  [
    'a watcher that may make Secrets by its default name',
    { makeSecrets: { serviceAccount: { create: false, name: 'reroll-watcher' } } },
    'makeSecrets.serviceAccount.name is "reroll-watcher", which other pods have too: give it another, because it may make Secrets.',
  ],
  [
    'Redis with the rights of a watcher',
    { redis: { serviceAccount: { create: false, name: 'reroll-watcher' } } },
    'redis.serviceAccount.name is "reroll-watcher", which other pods have too: give it another, because Redis needs no rights.',
  ],
  [
    'a network policy that would open every port',
    { networkPolicy: { enabled: true, apiServer: { ports: [] } } },
    'networkPolicy.apiServer.ports is empty, which would open every port: name those of the API server.',
  ],
  [
    'the same, switched on by the value of the incumbent',
    { reloader: { netpol: { enabled: true } }, networkPolicy: { apiServer: { ports: [] } } },
    'networkPolicy.apiServer.ports is empty, which would open every port: name those of the API server.',
  ],
  [
    'the account of an admin that is off, with the rights of a worker',
    {
      reloader: { serviceAccount: { name: 'mine' } },
      admin: { enabled: false, serviceAccount: { name: 'mine' } },
    },
    'admin.serviceAccount.name is that of watcher and worker, which may read Secrets: give it another.',
  ],
  [
    'a namespace for privileged Jobs that is none',
    { worker: { admissionPolicy: { privilegedJobNamespaces: 'shop,team-*' } } },
    'worker.admissionPolicy.privilegedJobNamespaces holds "team-*", which is no name of a namespace: give names, not patterns.',
  ],
  [
    'static tokens, and none there',
    { admin: { auth: 'static' } },
    'admin.auth is static, and nobody has a token: give admin.staticTokens.list, or admin.staticTokens.existingSecret.',
  ],
  [
    'tokens that nobody looks at',
    { admin: { staticTokens: { existingSecret: 's' } } },
    'admin.staticTokens are for admin.auth static: set it, or take them out.',
  ],
  [
    'tokens twice',
    { admin: { auth: 'static', staticTokens: { existingSecret: 's', list: [TOKEN] } } },
    'admin.staticTokens has a list and a Secret with one: leave one of them.',
  ],
  [
    'a right to ask that is not used',
    { admin: { auth: 'static', staticTokens: { list: [TOKEN] }, rbac: { clusterWide: true } } },
    'admin.rbac.clusterWide lets admin ask whose a token is, which it does not with admin.auth static',
  ],
  [
    'the API on the port of the metrics',
    { admin: { port: 9090 } },
    'admin.port is that of reloader.metricsPort: give it another.',
  ],
  [
    'the API on the port of the profiles',
    { admin: { port: 6060 }, reloader: { enablePProf: true } },
    'admin.port is that of reloader.pprofAddr: give it another.',
  ],
  [
    'an Ingress to nothing',
    { admin: { enabled: false, ingress: { enabled: true, hosts: ['h'] } } },
    'admin.ingress leads to an admin that is not there: set admin.enabled to true',
  ],
  [
    'an HTTPRoute to an admin that a scoped install leaves out',
    {
      reloader: { watchGlobally: false },
      admin: { httpRoute: { enabled: true, parentRefs: [{ name: 'g' }] } },
    },
    'admin.httpRoute leads to an admin that is not there',
  ],
  [
    'an Ingress for every host',
    { admin: { ingress: { enabled: true } } },
    'admin.ingress.hosts is empty, so that it would answer for every host: name yours.',
  ],
  [
    'an HTTPRoute of no Gateway',
    { admin: { httpRoute: { enabled: true } } },
    'admin.httpRoute.parentRefs is empty: name the Gateway that it belongs to.',
  ],
  [
    'two scalers',
    { reloader: { clusterName: 'a' }, worker: { autoscaling: { enabled: true }, keda: { enabled: true } } },
    'worker.autoscaling and worker.keda would both scale the workers: enable one of them.',
  ],
  [
    'more workers at the least than at the most',
    { worker: { autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 4 } } },
    'worker.autoscaling.minReplicas is more than its maxReplicas: swap them.',
  ],
  [
    'CPU that one scaler measures and another changes',
    { worker: { autoscaling: { enabled: true } }, reloader: { verticalPodAutoscaler: { enabled: true } } },
    'worker.autoscaling measures CPU against what is requested, and reloader.verticalPodAutoscaler would change that: set reloader.verticalPodAutoscaler.controlledResources to [memory], or enable only one of them.',
  ],
  [
    'no worker at the least',
    { worker: { autoscaling: { enabled: true, minReplicas: 0 } } },
    "at '/worker/autoscaling/minReplicas': minimum: got 0, want 1",
  ],
  [
    'CPU measured against nothing',
    { worker: { autoscaling: { enabled: true }, resources: { requests: { cpu: null } } } },
    'worker.autoscaling measures CPU against what is requested: set worker.resources.requests.cpu.',
  ],
  [
    'KEDA without the name that keys begin with',
    { worker: { keda: { enabled: true } } },
    "worker.keda looks into Redis under keys that begin with the cluster's name: set reloader.clusterName, or worker.keda.prometheusAddress.",
  ],
  [
    'KEDA with a URL of Redis',
    {
      reloader: { clusterName: 'a' },
      worker: { keda: { enabled: true } },
      ...externalRedis({ url: 'redis://r' }),
    },
    'worker.keda cannot take a URL of Redis: set redis.external.host (or cluster, or sentinel) instead, or worker.keda.prometheusAddress.',
  ],
  [
    'a key for one user of Redis and none for another',
    { redis: { auth: { existingSecret: 's', existingSecretKeys: { watcher: 'a', worker: 'b' } } } },
    'redis.auth.existingSecretKeys has keys for some users and not for others: set watcher, worker and admin, and keda if KEDA looks into Redis, or none.',
  ],
  [
    'keys of users of Redis without a Secret',
    { redis: { auth: { existingSecretKeys: { watcher: 'a', worker: 'b', admin: 'c' } } } },
    'redis.auth.existingSecretKeys are keys of redis.auth.existingSecret: name that Secret.',
  ],
  [
    'users in a Redis that is too old for them',
    { redis: { image: { tag: '6.2.14-alpine' } } },
    'redis.image.tag is older than 7, and so has no users with rights of reading alone: take 7 or later, or one password for all (redis.auth.existingSecret).',
  ],
  [
    'users in a Redis that is too old for them, by a tag of one figure',
    { redis: { image: { tag: '6-alpine' } } },
    'redis.image.tag is older than 7, and so has no users with rights of reading alone: take 7 or later, or one password for all (redis.auth.existingSecret).',
  ],
  [
    'a user of yours for one component only',
    externalRedis({ host: 'r', users: { worker: { username: 'u', existingSecret: 's' } } }),
    'redis.external.users has something for some components and not for others: set username and existingSecret of watcher, worker and admin.',
  ],
  [
    'TLS of a Redis of ours that there is not',
    { redis: { enabled: false, tls: { enabled: true }, external: { host: 'r' } } },
    'redis.tls is of the Redis of this release, and redis.enabled is false: set redis.external.tls.',
  ],
  [
    'a certificate without TLS',
    { redis: { tls: { existingSecret: 's' } } },
    'redis.tls.existingSecret is not read: set redis.tls.enabled to true.',
  ],
  [
    'KEDA and users of yours',
    {
      worker: { keda: { enabled: true } },
      reloader: { clusterName: 'a' },
      ...externalRedis({ host: 'r', users: USERS }),
    },
    'worker.keda has no user among redis.external.users: set worker.keda.prometheusAddress, or one user for all.',
  ],
  [
    'users of yours, and one for all',
    externalRedis({ host: 'r', username: 'u', password: 'p', users: USERS }),
    'redis.external has users and one user for all beside them: leave one of them.',
  ],
  [
    'a Redis of ours and one of yours',
    { redis: { external: { host: 'r' } } },
    'redis.external.host is set, and redis.enabled too: set redis.enabled to false to use a Redis of yours.',
  ],
  ...(
    [
      ['username', { username: 'u', password: 'p' }],
      ['password', { password: 'p' }],
      ['database', { database: 0 }],
      ['existingSecret', { existingSecret: 's' }],
      ['tls.enabled', { tls: { enabled: true } }],
      ['tls.caSecret', { tls: { caSecret: 's' } }],
      ['sentinel.master', { sentinel: { master: 'm' } }],
      ['users.watcher.username', { users: USERS }],
    ] as const
  ).map(
    ([path, external]) =>
      [
        `${path} of a Redis of yours, and one of ours`,
        { redis: { external } },
        `redis.external.${path} is set, and redis.enabled too: set redis.enabled to false to use a Redis of yours.`,
      ] as const,
  ),
  [
    'KEDA and a certificate for another name than the host',
    {
      worker: { keda: { enabled: true } },
      reloader: { clusterName: 'a' },
      ...externalRedis({ host: 'r', tls: { enabled: true, serverName: 'n' } }),
    },
    'worker.keda verifies the certificate of Redis for its host, not for redis.external.tls.serverName: take that out, or set worker.keda.prometheusAddress.',
  ],
  [
    'no Redis at all',
    { redis: { enabled: false } },
    'redis.enabled is false: say in redis.external where yours is (url, host, cluster or sentinel.hosts).',
  ],
  [
    'a Secret of which nothing is read',
    externalRedis({ host: 'r', existingSecret: 's' }),
    'redis.external.existingSecret is not read: say in redis.external.existingSecretKeys what it holds.',
  ],
  [
    'keys of no Secret',
    externalRedis({ host: 'r', existingSecretKeys: { password: 'p' } }),
    'redis.external.existingSecretKeys are keys of redis.external.existingSecret: name that Secret.',
  ],
  [
    'a scoped install in a Redis that others use',
    { reloader: { watchGlobally: false }, ...externalRedis({ host: 'r' }) },
    'a scoped install may not ask the cluster who it is, and shares a Redis: set reloader.clusterName.',
  ],
  [
    'both monitors',
    { reloader: { serviceMonitor: { enabled: true }, podMonitor: { enabled: true } } },
    'reloader.serviceMonitor.enabled and reloader.podMonitor.enabled are both true',
  ],
  [
    'a class of volumes and no volume',
    { redis: { persistence: { storageClass: 'fast' } } },
    'redis.persistence.storageClass is set, and redis.persistence.enabled is false: set that to true, or take the class out.',
  ],
  [
    'a Redis that may hold more than its container',
    { redis: { resources: { limits: { memory: '256Mi' } } } },
    'redis.maxMemory is 320mb, and redis.resources.limits.memory 256Mi: make the limit larger than that, by half if you can, or redis.maxMemory smaller.',
  ],
  [
    'a Redis that may hold all that its container may',
    { redis: { maxMemory: '1GB', resources: { limits: { memory: '1Gi' } } } },
    'redis.maxMemory is 1GB, and redis.resources.limits.memory 1Gi',
  ],
  [
    'memory of Redis in units of Kubernetes',
    { redis: { maxMemory: '320Mi' } },
    "at '/redis/maxMemory': '320Mi' does not match pattern",
  ],
  [
    'a Redis that may hold more than the process that starts it',
    { mode: 'standalone', standalone: { redisMaxMemory: '1gb' } },
    'standalone.redisMaxMemory is 1gb, and standalone.resources.limits.memory 512Mi: make the limit larger than that, by half if you can, or standalone.redisMaxMemory smaller.',
  ],
  [
    'a Redis whose default is more than the process that starts it may have',
    {
      mode: 'standalone',
      standalone: { redisMaxMemory: '', resources: { limits: { memory: '300Mi' } } },
    },
    'standalone.redisMaxMemory is 320mb, and standalone.resources.limits.memory 300Mi',
  ],
  [
    'the same, by the limit of all',
    {
      mode: 'standalone',
      standalone: { redisMaxMemory: '300mb' },
      reloader: { deployment: { resources: { limits: { memory: '128Mi' } } } },
    },
    'standalone.redisMaxMemory is 300mb, and reloader.deployment.resources.limits.memory 256Mi',
  ],
  [
    'memory of its Redis in units of Kubernetes',
    { mode: 'standalone', standalone: { redisMaxMemory: '192Mi' } },
    "at '/standalone/redisMaxMemory': '192Mi' does not match pattern",
  ],
  [
    'one process that is scaled by CPU',
    { mode: 'standalone', worker: { autoscaling: { enabled: true } } },
    'worker.autoscaling scales workers, and mode standalone has none by themselves: set worker.autoscaling.enabled to false, or mode to distributed.',
  ],
  [
    'one process that is scaled by its queue',
    { mode: 'standalone', worker: { keda: { enabled: true } }, reloader: { clusterName: 'a' } },
    'worker.keda scales workers',
  ],
  [
    'arguments of a pod that is not there',
    { mode: 'standalone', worker: { extraArgs: ['--concurrency=9'] } },
    'worker.extraArgs is for a pod that mode standalone does not have: set standalone.extraArgs instead.',
  ],
  [
    'an account of an admin by itself',
    { mode: 'standalone', admin: { serviceAccount: { name: 'a' } } },
    "admin.serviceAccount.name is for an admin by itself, and mode standalone has one process with one ServiceAccount: take it out (reloader.serviceAccount.name is that one's).",
  ],
  [
    'a volume for a Redis in memory',
    { mode: 'standalone', redis: { persistence: { enabled: true } } },
    'redis.persistence.enabled is for a Redis with a pod of its own, and with mode standalone Redis is in the pod, in memory and without a port: take it out (in an upgrade that keeps its values: --set redis.persistence.enabled=false), set redis.external and redis.enabled to false for a Redis of yours, or set mode to distributed.',
  ],
  [
    'memory of a Redis with a pod of its own, for one in the process',
    { mode: 'standalone', redis: { maxMemory: '1gb' } },
    'redis.maxMemory is "1gb", and is for a Redis with a pod of its own: with mode standalone, take it out (in an upgrade that keeps its values: --set redis.maxMemory=null), and set standalone.redisMaxMemory (now "192mb") instead.',
  ],
  [
    'TLS to a Redis without a port',
    { mode: 'standalone', redis: { tls: { enabled: true } } },
    'redis.tls.enabled is for a Redis with a pod of its own',
  ],
  [
    'a password of a Redis without a port',
    { mode: 'standalone', redis: { auth: { existingSecret: 's' } } },
    'redis.auth.existingSecret is for a Redis with a pod of its own',
  ],
  [
    'a user for each component, of one process',
    { mode: 'standalone', ...externalRedis({ host: 'r', users: USERS }) },
    'redis.external.users has a user for each component, and mode standalone is one process: set redis.external.username and its password instead.',
  ],
  [
    'one process whose ports are one, with admin off too',
    { mode: 'standalone', admin: { enabled: false, port: 9090 } },
    'admin.port is that of reloader.metricsPort: give it another.',
  ],
];

/** Of the schema: what is wrong, the values, where and what helm says. */
const NOT_IN_SCHEMA: readonly (readonly [string, ChartValues, string])[] = [
  ['a mode that is none', { mode: 'single' }, "at '/mode': value must be one of 'distributed', 'standalone'"],
  ['a key that is none', { reloader: { autoReloadAl: true } }, "'autoReloadAl' not allowed"],
  [
    'a word that is none',
    { reloader: { logLevel: 'loud' } },
    "at '/reloader/logLevel': value must be one of",
  ],
  ['text for a number', { worker: { replicas: 'two' } }, "at '/worker/replicas': got string, want integer"],
  [
    'no duration',
    { reloader: { debounce: '5 minutes' } },
    "at '/reloader/debounce': '5 minutes' does not match",
  ],
  ['a number out of range', { reloader: { queues: { concurrency: 0 } } }, 'minimum: got 0, want 1'],
  [
    'a token instead of its hash',
    { admin: { auth: 'static', staticTokens: { list: [{ ...TOKEN, sha256: 'hunter2' }] } } },
    "at '/admin/staticTokens/list/0/sha256'",
  ],
  [
    'no path',
    { admin: { ingress: { path: 'reroll' } } },
    "at '/admin/ingress/path': 'reroll' does not match",
  ],
  ...(
    [
      ['a name of a user with a blank', { name: 'a b' }, 'name'],
      ['a user of no namespace', { namespaces: [] }, 'namespaces'],
      ['a user of a namespace that is none', { namespaces: ['team-*'] }, 'namespaces/0'],
    ] as const
  ).map(([what, changed, path]): [string, ChartValues, string] => [
    what,
    { admin: { auth: 'static', staticTokens: { list: [{ ...TOKEN, ...changed }] } } },
    `at '/admin/staticTokens/list/0/${path}'`,
  ]),
  ['a strategy that is none', { reloader: { reloadStrategy: 'env' } }, "at '/reloader/reloadStrategy'"],
];

describe.concurrent('helm refuses, and says what to change:', () => {
  it.each(REFUSED)('%s', async (_what, values, sentence) => {
    expect(await refusalOf(values)).toContain(sentence);
  });

  it('several at once', async () => {
    const said = await refusalOf({ redis: { enabled: false }, image: { tag: 'v1', digest: 'sha256:1' } });
    for (const path of ['image.tag is v1', 'image.digest is sha256:1', 'redis.enabled is false'])
      expect(said).toContain(path);
  });
});

describe.concurrent('the schema refuses, and says where:', () => {
  it.each(['half', '101%', -1])('%s as a bound of a budget', async (bound) => {
    const components = ['reloader', 'watcher', 'worker', 'admin', 'standalone'];
    const values = { podDisruptionBudget: { minAvailable: bound, maxUnavailable: bound } };
    const said = await refusalOf(Object.fromEntries(components.map((component) => [component, values])));
    for (const path of components.flatMap((component) =>
      Object.keys(values.podDisruptionBudget).map((key) => `/${component}/podDisruptionBudget/${key}`),
    ))
      expect(said).toContain(`at '${path}'`);
  });

  it.each(NOT_IN_SCHEMA)('%s', async (_what, values, sentence) => {
    expect(await refusalOf(values)).toContain(sentence);
  });
});

it.each([
  [
    'the hash of a token in capitals',
    { admin: { auth: 'static', staticTokens: { list: [{ ...TOKEN, sha256: 'A'.repeat(64) }] } } },
  ],
  [
    'alerts with a URL among the variables',
    {
      reloader: {
        alerts: { onReload: true },
        deployment: { env: { existing: { s: { ALERT_WEBHOOK_URL: 'k' } } } },
      },
    },
  ],
  ['KEDA with Prometheus', { worker: { keda: { enabled: true, prometheusAddress: 'http://p:9090' } } }],
  [
    'KEDA and a scoped install with a Redis of its own',
    { reloader: { watchGlobally: false }, worker: { keda: { enabled: true } } },
  ],
  ['a CA beside a URL', externalRedis({ url: 'rediss://r', tls: { caSecret: 'ca' } })],
  ['a database beside a URL with a query', externalRedis({ url: 'redis://r/?family=6', database: 1 })],
  ['a host beside a URL that is taken out', externalRedis({ host: 'r', url: null })],
  ['values under `global` that are for other charts', { global: { storageClass: 'x' } }],
] satisfies [string, ChartValues][])('renders %s', async (_what, values) => {
  expect((await renderChart(values)).ok).toBe(true);
});
