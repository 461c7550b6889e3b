import { beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '@reroll/shared/platform/process/version';
import { at, find, installed, workload } from './look.ts';
import { manifestsWith, type ChartValues, type Manifest } from './render.ts';
import { difference } from './testing/facts.ts';
import { complaintAboutSpec } from '../docs/compatibility.ts';
import { ELSEWHERE, keysWithout } from './testing/incumbent-keys.ts';
import { wrongRows, type Row } from './testing/rows.ts';

/**
 * The values of stakater/Reloader's chart 2.2.16, each with what it changes here, and nothing besides. What its chart
 * gets wrong is named in the sentence.
 */

const WATCHER = 'Deployment reroll-watcher';
const WORKER = 'Deployment reroll-worker';
const REDIS = 'StatefulSet reroll-redis';
const MAKE_SECRETS = 'Job reroll-make-secrets';
/** A line of both Deployments. */
const both = (line: string): readonly string[] => [WATCHER, WORKER].map((name) => `+ ${name} ${line}`);
const all = (line: string): readonly string[] =>
  [WATCHER, WORKER, REDIS, MAKE_SECRETS].map((name) => `+ ${name} ${line}`);
/** Those, and the pod of the Job. */
const pods = (line: string): readonly string[] => [...both(line), `+ ${MAKE_SECRETS} ${line}`];
const ours = (values: ChartValues): ChartValues => ({ reloader: values });
const deployment = (values: ChartValues): ChartValues => ours({ deployment: values });
const key = (values: ChartValues): ChartValues => ours({ custom_annotations: values });

const watcherRole = 'ClusterRole reroll-reroll-watcher';
const workerRole = 'ClusterRole reroll-reroll-worker';
/** Without Roles and bindings. */
const NO_RIGHTS: readonly string[] = [
  `- ${watcherRole}`,
  `- ${workerRole}`,
  '- ClusterRoleBinding reroll-reroll-watcher',
  '- ClusterRoleBinding reroll-reroll-worker',
  '- Role reroll-make-secrets',
  '- Role reroll-watcher-lease',
  '- Role reroll-watcher-metadata',
  '- RoleBinding reroll-make-secrets',
  '- RoleBinding reroll-watcher-lease',
  '- RoleBinding reroll-watcher-metadata',
];

/** Taken out for another: `- old`, `+ new`. */
const image = (to: string): readonly string[] =>
  [WATCHER, WORKER, MAKE_SECRETS].flatMap((title) => [
    `- ${title} container.image="ghcr.io/reroll/reroll:${VERSION}"`,
    `+ ${title} container.image="${to}"`,
  ]);

const PULL_SECRETS: readonly string[] = ['0.name="a"', '1.name="b"'].flatMap((line) => [
  ...all(`pod.imagePullSecrets.${line}`),
  ...['make-secrets', 'redis', 'watcher', 'worker'].map(
    (name) => `+ ServiceAccount reroll-${name} imagePullSecrets.${line}`,
  ),
]);

const IMAGES: readonly Row[] = [
  [
    'global.imageRegistry is the registry of every image',
    { global: { imageRegistry: 'r.example/' } },
    [
      ...image(`r.example/reroll/reroll:${VERSION}`),
      `- ${REDIS} container.image="docker.io/library/redis:7.2.11-alpine"`,
      `+ ${REDIS} container.image="r.example/library/redis:7.2.11-alpine"`,
    ],
  ],
  [
    'image.name is the path below that registry',
    { global: { imageRegistry: 'r.example' }, image: { name: 'mirror/reroll' } },
    [
      ...image(`r.example/mirror/reroll:${VERSION}`),
      `- ${REDIS} container.image="docker.io/library/redis:7.2.11-alpine"`,
      `+ ${REDIS} container.image="r.example/library/redis:7.2.11-alpine"`,
    ],
  ],
  [
    'global.imagePullSecrets, names or maps, reach pods and ServiceAccounts',
    { global: { imagePullSecrets: ['a', { name: 'b' }] } },
    PULL_SECRETS,
  ],
  ['image.repository', { image: { repository: 'r.example/x' } }, image(`r.example/x:${VERSION}`)],
  ['image.tag', { image: { tag: '9.9.9' } }, image('ghcr.io/reroll/reroll:9.9.9')],
  [
    'image.digest goes before the tag',
    { image: { tag: '9.9.9', digest: `sha256:${'a'.repeat(64)}` } },
    image(`ghcr.io/reroll/reroll@sha256:${'a'.repeat(64)}`),
  ],
  [
    'image.pullPolicy',
    { image: { pullPolicy: 'Always' } },
    [WATCHER, WORKER, REDIS, MAKE_SECRETS].flatMap((name) => [
      `- ${name} container.imagePullPolicy="IfNotPresent"`,
      `+ ${name} container.imagePullPolicy="Always"`,
    ]),
  ],
  [
    'deployment.imagePullSecrets come after those of global',
    { global: { imagePullSecrets: ['a'] }, ...deployment({ imagePullSecrets: [{ name: 'b' }] }) },
    PULL_SECRETS,
  ],
  ['enabled does nothing: it is for the condition of a parent chart', { enabled: true }, []],
  ['kubernetes.host does nothing', { kubernetes: { host: 'https://elsewhere' } }, []],
];

const FLAGS: readonly Row[] = [
  ['autoReloadAll', ours({ autoReloadAll: true }), both('arg --auto-reload-all=true')],
  [
    'isArgoRollouts, whether or not the API is there when it is rendered',
    ours({ isArgoRollouts: true }),
    [
      `+ ${watcherRole} may list,watch argoproj.io/rollouts`,
      `+ ${workerRole} may get,patch argoproj.io/rollouts`,
      `+ ${WATCHER} arg --is-Argo-Rollouts=true`,
    ],
  ],
  [
    'ignoreSecrets takes flag and rights',
    ours({ ignoreSecrets: true }),
    [
      `- ${watcherRole} may list,watch secrets`,
      `- ${workerRole} may get secrets`,
      ...both('arg --resources-to-ignore=secrets'),
    ],
  ],
  [
    'ignoreConfigMaps takes flag and rights',
    ours({ ignoreConfigMaps: true }),
    [
      `- ${watcherRole} may list,watch configmaps`,
      `- ${workerRole} may get configmaps`,
      ...both('arg --resources-to-ignore=configmaps'),
    ],
  ],
  [
    'ignoreJobs takes flag and rights, but those to run CronJobs',
    ours({ ignoreJobs: true }),
    [
      `- ${watcherRole} may list,watch batch/jobs`,
      `- ${workerRole} may create,delete,get,patch batch/jobs`,
      `+ ${workerRole} may create,get batch/jobs`,
      ...both('arg --ignored-workload-types=jobs'),
    ],
  ],
  [
    'ignoreCronJobs takes flag and rights',
    ours({ ignoreCronJobs: true }),
    [
      `- ${watcherRole} may list,watch batch/cronjobs`,
      `- ${workerRole} may get,patch batch/cronjobs`,
      ...both('arg --ignored-workload-types=cronjobs'),
    ],
  ],
  [
    'both of them are one flag',
    ours({ ignoreCronJobs: true, ignoreJobs: true }),
    [
      `- ${watcherRole} may list,watch batch/cronjobs`,
      `- ${watcherRole} may list,watch batch/jobs`,
      `- ${workerRole} may get,patch batch/cronjobs`,
      `- ${workerRole} may create,delete,get,patch batch/jobs`,
      ...both('arg --ignored-workload-types=jobs,cronjobs'),
    ],
  ],
  ['reloadOnCreate', ours({ reloadOnCreate: true }), both('arg --reload-on-create=true')],
  ['reloadOnDelete', ours({ reloadOnDelete: true }), both('arg --reload-on-delete=true')],
  ['syncAfterRestart', ours({ syncAfterRestart: true }), both('arg --sync-after-restart=true')],
  ["reloadStrategy default is the program's own", ours({ reloadStrategy: 'default' }), []],
  ['reloadStrategy', ours({ reloadStrategy: 'annotations' }), both('arg --reload-strategy=annotations')],
  [
    'ignoreNamespaces, text with commas',
    ours({ ignoreNamespaces: 'a,b' }),
    [
      `- ${WATCHER} arg --namespaces-to-ignore=kube-system`,
      `+ ${WATCHER} arg --namespaces-to-ignore=a,b,kube-system`,
    ],
  ],
  [
    'namespaceSelector, also one with a wildcard, without quotes inside',
    ours({ namespaceSelector: 'env=*,team:a' }),
    [`+ ${watcherRole} may list,watch namespaces`, `+ ${WATCHER} arg --namespace-selector=env=*,team:a`],
  ],
  [
    'resourceLabelSelector',
    ours({ resourceLabelSelector: 'team=a' }),
    [
      `- ${watcherRole} may list,watch configmaps`,
      `- ${watcherRole} may list,watch secrets`,
      `+ ${watcherRole} may get,list,watch configmaps`,
      `+ ${watcherRole} may get,list,watch secrets`,
      ...both('arg --resource-label-selector=team=a'),
    ],
  ],
  ['logFormat', ours({ logFormat: 'json' }), both('arg --log-format=json')],
  ['logLevel', ours({ logLevel: 'debug' }), both('arg --log-level=debug')],
  ['logLevel info is the default', ours({ logLevel: 'info' }), []],
  ['enableHA', ours({ enableHA: true }), both('arg --enable-ha=true')],
  [
    'enablePProf, with its port',
    ours({ enablePProf: true }),
    [...both('arg --enable-pprof=true'), ...pprofPorts(6060)],
  ],
  [
    'pprofAddr',
    ours({ enablePProf: true, pprofAddr: ':7070' }),
    [...both('arg --enable-pprof=true'), ...both('arg --pprof-addr=:7070'), ...pprofPorts(7070)],
  ],
  [
    'enableCSIIntegration',
    ours({ enableCSIIntegration: true }),
    [
      `+ ${watcherRole} may list,watch secrets-store.csi.x-k8s.io/secretproviderclasses`,
      `+ ${watcherRole} may list,watch secrets-store.csi.x-k8s.io/secretproviderclasspodstatuses`,
      `+ ${WATCHER} arg --enable-csi-integration=true`,
    ],
  ],
  ['readOnlyRootFileSystem: it is in any case', ours({ readOnlyRootFileSystem: true }), []],
  ['legacy.rbac does nothing', ours({ legacy: { rbac: true } }), []],
  [
    'enableMetricsByNamespace',
    ours({ enableMetricsByNamespace: true }),
    [`+ ${WORKER} arg --metrics-count-by-namespace=true`],
  ],
  [
    'webhookUrl, without custom_annotations, and in a Secret instead of an argument',
    ours({ webhookUrl: 'https://hook/token' }),
    [
      '+ Secret reroll',
      ...both('env REROLL_WEBHOOK_URL<-secretKeyRef:reroll/REROLL_WEBHOOK_URL'),
      ...both('pod.metadata.annotations.checksum/secret=…'),
    ],
  ],
  ...Object.entries({
    configmap: 'configmap-annotation',
    secret: 'secret-annotation',
    auto: 'auto-annotation',
    secret_auto: 'secret-auto-annotation',
    configmap_auto: 'configmap-auto-annotation',
    search: 'auto-search-annotation',
    match: 'search-match-annotation',
    ignore: 'ignore-annotation',
    pausePeriod: 'pause-deployment-annotation',
    pauseTime: 'pause-deployment-time-annotation',
  }).map(([name, flag]): Row => [
    `custom_annotations.${name}`,
    key({ [name]: 'my.org/x' }),
    both(`arg --${flag}=my.org/x`),
  ]),
];

function pprofPorts(port: number): readonly string[] {
  return ['name="pprof"', `containerPort=${port}`].flatMap((line) => both(`container.ports.1.${line}`));
}

const VOLUME = { volumes: [{ name: 'v' }], volumeMounts: [{ name: 'v', mountPath: '/v' }] };
const VOLUME_ADDED = [
  'container.volumeMounts.2.name="v"',
  'container.volumeMounts.2.mountPath="/v"',
  'pod.volumes.2.name="v"',
].flatMap(both);

const PODS: readonly Row[] = [
  [
    'deployment.replicas are watchers, without enableHA too',
    deployment({ replicas: 3 }),
    [`- ${WATCHER} spec.replicas=2`, `+ ${WATCHER} spec.replicas=3`],
  ],
  [
    'deployment.revisionHistoryLimit, but not of the StatefulSet, where older API servers refuse another one',
    deployment({ revisionHistoryLimit: 5 }),
    [WATCHER, WORKER].flatMap((name) => [
      `- ${name} spec.revisionHistoryLimit=2`,
      `+ ${name} spec.revisionHistoryLimit=5`,
    ]),
  ],
  ['deployment.hostUsers', deployment({ hostUsers: false }), pods('pod.hostUsers=false')],
  [
    'deployment.automountServiceAccountToken',
    deployment({ automountServiceAccountToken: false }),
    replaced('pod.automountServiceAccountToken', 'true', 'false'),
  ],
  [
    'deployment.dnsConfig',
    deployment({ dnsConfig: { searches: ['a'] } }),
    pods('pod.dnsConfig.searches.0="a"'),
  ],
  [
    'deployment.nodeSelector',
    deployment({ nodeSelector: { disk: 'ssd' } }),
    all('pod.nodeSelector.disk="ssd"'),
  ],
  [
    'deployment.affinity',
    deployment({ affinity: { nodeAffinity: { x: 1 } } }),
    pods('pod.affinity.nodeAffinity.x=1'),
  ],
  ['deployment.tolerations', deployment({ tolerations: [{ key: 'a' }] }), all('pod.tolerations.0.key="a"')],
  ['deployment.volumes and volumeMounts', deployment(VOLUME), VOLUME_ADDED],
  ['volumes and volumeMounts, as older charts have them', ours(VOLUME), VOLUME_ADDED],
  [
    'deployment.securityContext',
    deployment({
      securityContext: { runAsNonRoot: true, runAsUser: 1234, seccompProfile: { type: 'RuntimeDefault' } },
    }),
    [
      ...replaced('pod.securityContext.runAsUser', '65532', '1234'),
      `- ${MAKE_SECRETS} pod.securityContext.runAsUser=65532`,
      `+ ${MAKE_SECRETS} pod.securityContext.runAsUser=1234`,
    ],
  ],
  [
    'deployment.containerSecurityContext',
    deployment({ containerSecurityContext: { privileged: false } }),
    [WATCHER, WORKER, MAKE_SECRETS].map((name) => `+ ${name} container.securityContext.privileged=false`),
  ],
  ['deployment.annotations', deployment({ annotations: { a: 'b' } }), both('metadata.annotations.a="b"')],
  [
    'deployment.labels, on the pods too and not in selectors',
    deployment({ labels: { provider: 'stakater', group: 'com.stakater.platform', version: 'v1.4.21' } }),
    ['provider="stakater"', 'group="com.stakater.platform"', 'version="v1.4.21"'].flatMap((label) => [
      ...both(`metadata.labels.${label}`),
      ...pods(`pod.metadata.labels.${label}`),
    ]),
  ],
  [
    'deployment.env.open, without empty ones',
    deployment({ env: { open: { A: 'b', EMPTY: '' } } }),
    both('env A=b'),
  ],
  [
    'deployment.env.secret, whatever the name of the variable',
    deployment({ env: { secret: { ALERT_WEBHOOK_PROXY: 'http://p' } } }),
    [
      '+ Secret reroll',
      ...both('env ALERT_WEBHOOK_PROXY<-secretKeyRef:reroll/ALERT_WEBHOOK_PROXY'),
      ...both('pod.metadata.annotations.checksum/secret=…'),
    ],
  ],
  [
    'deployment.env.field',
    deployment({ env: { field: { IP: 'status.podIP' } } }),
    both('env IP<-fieldRef:status.podIP'),
  ],
  [
    'deployment.env.existing: by Secret, variables and keys',
    deployment({ env: { existing: { mine: { ALERT_SINK: 'sink' } } } }),
    both('env ALERT_SINK<-secretKeyRef:mine/sink'),
  ],
  [
    'deployment.livenessProbe',
    deployment({ livenessProbe: { timeoutSeconds: 9 } }),
    replaced('container.livenessProbe.timeoutSeconds', '5', '9'),
  ],
  [
    'deployment.readinessProbe',
    deployment({ readinessProbe: { failureThreshold: 9 } }),
    replaced('container.readinessProbe.failureThreshold', '3', '9'),
  ],
  [
    'deployment.pod.annotations',
    deployment({ pod: { annotations: { a: 'b' } } }),
    both('pod.metadata.annotations.a="b"'),
  ],
  ['deployment.priorityClassName', deployment({ priorityClassName: 'p' }), all('pod.priorityClassName="p"')],
  ['deployment.runtimeClassName', deployment({ runtimeClassName: 'r' }), all('pod.runtimeClassName="r"')],
  ['deployment.schedulerName', deployment({ schedulerName: 's' }), pods('pod.schedulerName="s"')],
  [
    'deployment.gomaxprocsOverride and gomemlimitOverride do nothing: this is no Go program',
    deployment({ gomaxprocsOverride: '2', gomemlimitOverride: '500MiB' }),
    [],
  ],
];

function replaced(path: string, old: string, now: string): readonly string[] {
  return [WATCHER, WORKER].flatMap((name) => [`- ${name} ${path}=${old}`, `+ ${name} ${path}=${now}`]);
}

/** Watcher and worker with the ServiceAccount `mine` instead of one each. */
const OWN_ACCOUNT = ['watcher', 'worker'].flatMap((name) => [
  `- Deployment reroll-${name} pod.serviceAccountName="reroll-${name}"`,
  `+ Deployment reroll-${name} pod.serviceAccountName="mine"`,
  `- ServiceAccount reroll-${name}`,
]);

const OBJECTS: readonly Row[] = [
  [
    'service: any key renders it, without a port too',
    ours({ service: { labels: { a: 'b' } } }),
    ['+ Service reroll-watcher', '+ Service reroll-worker'],
  ],
  [
    'serviceMonitor.enabled, with its Services',
    ours({ serviceMonitor: { enabled: true } }),
    ['+ Service reroll-watcher', '+ Service reroll-worker', '+ ServiceMonitor reroll'],
  ],
  ['podMonitor.enabled', ours({ podMonitor: { enabled: true } }), ['+ PodMonitor reroll']],
  [
    'podDisruptionBudget.minAvailable',
    ours({ podDisruptionBudget: { enabled: true, minAvailable: 1 } }),
    ['watcher', 'worker'].flatMap((name) => [
      `- PodDisruptionBudget reroll-${name} spec.maxUnavailable=1`,
      `+ PodDisruptionBudget reroll-${name} spec.minAvailable=1`,
    ]),
  ],
  [
    'podDisruptionBudget.maxUnavailable',
    ours({ podDisruptionBudget: { enabled: true, maxUnavailable: '50%' } }),
    ['watcher', 'worker'].flatMap((name) => [
      `- PodDisruptionBudget reroll-${name} spec.maxUnavailable=1`,
      `+ PodDisruptionBudget reroll-${name} spec.maxUnavailable="50%"`,
    ]),
  ],
  [
    'podDisruptionBudget.enabled alone is a budget all the same',
    ours({ podDisruptionBudget: { enabled: true } }),
    [],
  ],
  [
    'netpol.enabled',
    ours({ netpol: { enabled: true } }),
    ['make-secrets', 'watcher', 'worker'].map((name) => `+ NetworkPolicy reroll-${name}`),
  ],
  [
    'verticalPodAutoscaler.enabled',
    ours({ verticalPodAutoscaler: { enabled: true } }),
    ['watcher', 'worker'].map((name) => `+ VerticalPodAutoscaler reroll-${name}`),
  ],
  ['rbac.enabled false', ours({ rbac: { enabled: false } }), NO_RIGHTS],
  [
    'rbac.labels',
    ours({ rbac: { labels: { a: 'b' } } }),
    [
      watcherRole,
      workerRole,
      'ClusterRoleBinding reroll-reroll-watcher',
      'ClusterRoleBinding reroll-reroll-worker',
      'Role reroll-make-secrets',
      'Role reroll-watcher-lease',
      'Role reroll-watcher-metadata',
      'RoleBinding reroll-make-secrets',
      'RoleBinding reroll-watcher-lease',
      'RoleBinding reroll-watcher-metadata',
    ].map((title) => `+ ${title} metadata.labels.a="b"`),
  ],
  [
    'serviceAccount.labels and annotations',
    ours({ serviceAccount: { labels: { a: 'b' }, annotations: { c: 'd' } } }),
    ['watcher', 'worker'].flatMap((name) => [
      `+ ServiceAccount reroll-${name} metadata.labels.a="b"`,
      `+ ServiceAccount reroll-${name} metadata.annotations.c="d"`,
    ]),
  ],
  [
    'serviceAccount.automountServiceAccountToken',
    ours({ serviceAccount: { automountServiceAccountToken: false } }),
    ['watcher', 'worker'].map((name) => `+ ServiceAccount reroll-${name} automountServiceAccountToken=false`),
  ],
  [
    'serviceAccount.name is that of both, and the bindings follow it',
    ours({ serviceAccount: { name: 'mine' } }),
    [
      ...[
        'ClusterRoleBinding reroll-reroll-watcher',
        'ClusterRoleBinding reroll-reroll-worker',
        'RoleBinding reroll-watcher-lease',
        'RoleBinding reroll-watcher-metadata',
      ].flatMap((title) => [
        `- ${title} subjects.0.name="reroll-${title.includes('watcher') ? 'watcher' : 'worker'}"`,
        `+ ${title} subjects.0.name="mine"`,
      ]),
      ...OWN_ACCOUNT,
      '+ ServiceAccount mine',
    ],
  ],
  [
    'serviceAccount.create false with a name',
    ours({ serviceAccount: { create: false, name: 'mine' }, rbac: { enabled: false } }),
    [...NO_RIGHTS, ...OWN_ACCOUNT],
  ],
];

/** What is installed besides admin, which stakater/Reloader has nothing like: `admin.spec.ts` is about that. */
function withoutAdmin(manifests: readonly Manifest[]): readonly Manifest[] {
  const isAdmin = ({ metadata }: Manifest): boolean =>
    metadata.labels?.['app.kubernetes.io/component']?.startsWith('admin') === true;
  return installed(manifests).filter((each) => !isAdmin(each));
}

let before: readonly Manifest[];
beforeAll(async () => {
  before = withoutAdmin(await manifestsWith());
});

describe.each([
  ['images and names', IMAGES],
  ['flags', FLAGS],
  ['pods', PODS],
  ['objects', OBJECTS],
] as const)('of %s', (_what, rows) => {
  let wrong: ReadonlyMap<string, unknown>;
  beforeAll(async () => {
    wrong = await wrongRows(rows, withoutAdmin);
  });

  it.each(rows)('%s', (sentence, _values, changes) => {
    expect(wrong.get(sentence) ?? [...changes].sort()).toEqual([...changes].sort());
  });
});

describe('every key of the values.yaml of stakater/Reloader', () => {
  it('is in a row above, or in the list of those that have a test elsewhere', () => {
    const rows = [...IMAGES, ...FLAGS, ...PODS, ...OBJECTS];
    expect(keysWithout(rows.map(([, values]) => values))).toEqual(Object.keys(ELSEWHERE).sort());
  });

  it.each(Object.entries(ELSEWHERE))('that is in that list has its test: %s', (_key, spec) => {
    expect(complaintAboutSpec(spec)).toBeUndefined();
  });
});

describe.concurrent('what is more than a difference:', () => {
  it('isOpenshift gives rights, and leaves the ids of users to OpenShift', async () => {
    const after = withoutAdmin(await manifestsWith(ours({ isOpenshift: true })));
    const changes = difference(before, after);
    expect(changes).toContain(`+ ${watcherRole} may list,watch apps.openshift.io/deploymentconfigs`);
    expect(changes).toContain(`+ ${workerRole} may get,patch apps.openshift.io/deploymentconfigs`);
    expect(changes).toContain(`- ${WATCHER} arg --is-openshift=false`);
    expect(changes).toContain(`+ ${WATCHER} arg --is-openshift=true`);
    expect(changes).toContain(`- ${WATCHER} pod.securityContext.runAsUser=65532`);
    expect(changes).toContain(`- ${REDIS} pod.securityContext.fsGroup=1000`);
  });

  it.each([
    ['a list', { watchGlobally: false, namespaces: ['b', 'a', 'a'] }, 'a,b,reroll'],
    ['text', { watchGlobally: false, namespaces: 'b, a' }, 'a,b,reroll'],
    ['none', { watchGlobally: false }, 'reroll'],
  ])(
    'watchGlobally false with namespaces, %s: that of the release too, sorted, and Roles only',
    async (_how, values, watched) => {
      const after = await manifestsWith(ours(values));
      for (const component of ['watcher', 'worker'])
        expect(workload(after, component).args).toContain(`--namespaces=${watched}`);
      expect(after.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([]);
      const roles = after.filter(
        ({ kind, metadata }) => kind === 'Role' && metadata.name.endsWith('reroll-worker'),
      );
      expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(watched.split(','));
    },
  );

  it('ignoreNamespaces and namespaceSelector are only for who watches all, as in the chart of stakater/Reloader', async () => {
    const scoped = ours({ watchGlobally: false, ignoreNamespaces: 'a', namespaceSelector: 'a=b' });
    const { args } = workload(await manifestsWith(scoped), 'watcher');
    expect(args.filter((arg) => /ignore|selector/u.test(arg))).toEqual([]);
  });

  it('nameOverride and fullnameOverride name every object', async () => {
    const names = async (values: ChartValues): Promise<readonly string[]> => {
      const all = (await manifestsWith(values, { release: 'prod' })).map(({ metadata }) => metadata.name);
      return all.filter((name) => name !== 'reloader-meta-info'); // stakater/Reloader's name for it
    };
    for (const name of await names({})) expect(name).toMatch(/prod-reroll/u);
    for (const name of await names({ nameOverride: 'x' })) expect(name).toMatch(/prod-x/u);
    for (const name of await names({ fullnameOverride: 'y' })) expect(name).toMatch(/^(reroll-)?y/u);
  });

  it('namespace is that of every object', async () => {
    const after = await manifestsWith({ namespace: 'ops' });
    const namespaces = after.flatMap(({ metadata }) => metadata.namespace ?? []);
    expect(new Set(namespaces)).toEqual(new Set(['ops']));
    const monitor = find(
      await manifestsWith({ namespace: 'ops', reloader: { podMonitor: { enabled: true } } }),
      'PodMonitor',
      'reroll',
    );
    expect(at(monitor, 'spec.namespaceSelector.matchNames')).toEqual(['ops']);
  });

  it('matchLabels are labels and selectors of everything', async () => {
    const after = await manifestsWith(ours({ matchLabels: { team: 'a' } }));
    for (const component of ['watcher', 'worker', 'redis']) {
      const { object } = workload(after, component);
      for (const path of ['metadata.labels', 'spec.selector.matchLabels', 'spec.template.metadata.labels'])
        expect(at(object, path)).toMatchObject({ team: 'a' });
    }
  });

  it('deployment.resources take the place of both', async () => {
    const after = await manifestsWith(deployment({ resources: { limits: { memory: '1Gi' } } }));
    for (const component of ['watcher', 'worker'])
      expect(at(workload(after, component).container, 'resources')).toEqual({ limits: { memory: '1Gi' } });
  });

  it('deployment.topologySpreadConstraints take the place of the spread over nodes', async () => {
    const mine = [{ maxSkew: 2, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }];
    const after = await manifestsWith(deployment({ topologySpreadConstraints: mine }));
    for (const component of ['watcher', 'worker'])
      expect(at(workload(after, component).pod, 'topologySpreadConstraints')).toEqual(mine);
  });

  it("the Service's selector is its pods, not their labels of the day", async () => {
    const after = await manifestsWith(
      ours({ service: { port: 80 }, deployment: { labels: { version: 'v1.4.21' } } }),
    );
    for (const component of ['watcher', 'worker']) {
      const service = find(after, 'Service', `reroll-${component}`);
      const { object } = workload(after, component);
      expect(at(service, 'spec.selector')).toEqual(at(object, 'spec.selector.matchLabels'));
      expect(at(service, 'spec.ports')).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
    }
  });

  it('verticalPodAutoscaler has what it is given', async () => {
    const scaler = {
      enabled: true,
      recommenders: [{ name: 'r' }],
      controlledResources: ['memory'],
      controlledValues: 'RequestsOnly',
      maxAllowed: { memory: '1Gi' },
      minAllowed: { memory: '64Mi' },
      updatePolicy: { updateMode: 'Off' },
    };
    const after = await manifestsWith(ours({ verticalPodAutoscaler: scaler }));
    const { enabled: _enabled, recommenders, updatePolicy, ...container } = scaler;
    expect(at(find(after, 'VerticalPodAutoscaler', 'reroll-worker'), 'spec')).toEqual({
      recommenders,
      updatePolicy,
      resourcePolicy: { containerPolicies: [{ containerName: 'worker', ...container }] },
      targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'reroll-worker' },
    });
  });

  it('maps and lists that a values file leaves empty (null) render', async () => {
    const empty = { nodeSelector: null, labels: null, volumes: null, env: { open: null, secret: null } };
    const values = { deployment: empty, custom_annotations: null, matchLabels: null, service: null };
    expect(withoutAdmin(await manifestsWith(ours(values))).length).toBe(before.length);
  });
});
