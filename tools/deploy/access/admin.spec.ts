import { describe, expect, it } from 'vitest';
import { at, find, workload } from '../look.ts';
import { manifestsWith, type ChartValues, type Manifest } from '../render.ts';

const ADMIN = 'reroll-admin';
const TOKEN = { name: 'ann', sha256: 'a'.repeat(64), access: 'read', namespaces: ['shop'] };

const ofAdmin = (manifests: readonly Manifest[]): readonly string[] =>
  manifests.flatMap(({ kind, metadata }) =>
    metadata.labels?.['app.kubernetes.io/component'] === 'admin' ? [`${kind} ${metadata.name}`] : [],
  );

async function admin(values: ChartValues): Promise<ReturnType<typeof workload>> {
  return workload(await manifestsWith({ admin: values }), 'admin');
}

describe('there is an admin', () => {
  const objects = [
    'ClusterRole reroll-operator',
    'ClusterRole reroll-reroll-admin',
    'ClusterRole reroll-viewer',
    'ClusterRoleBinding reroll-reroll-admin',
    'Deployment reroll-admin',
    'PodDisruptionBudget reroll-admin',
    'Service reroll-admin',
    'ServiceAccount reroll-admin',
  ];
  const scoped = objects.filter((name) => !name.startsWith('ClusterRole'));
  const isStatic = { auth: 'static', staticTokens: { existingSecret: 's' } };

  it.each<[string, ChartValues, readonly string[]]>([
    ['by default', {}, objects],
    ['and nothing of it if it is not wanted', { admin: { enabled: false } }, []],
    [
      'and nothing of it in a scoped install, which could not ask whose a token is',
      { reloader: { watchGlobally: false } },
      [],
    ],
    [
      'in a scoped install that may ask',
      { reloader: { watchGlobally: false }, admin: { rbac: { clusterWide: true } } },
      objects,
    ],
    [
      'in a scoped install with tokens of its own, and no ClusterRole',
      { reloader: { watchGlobally: false }, admin: isStatic },
      scoped,
    ],
    [
      'without ClusterRoles for people, if they are made by others',
      { admin: { rbac: { userRoles: false } } },
      objects.filter((name) => !/-(viewer|operator)$/u.test(name)),
    ],
    [
      'without a budget',
      { admin: { podDisruptionBudget: { enabled: false } } },
      objects.filter((name) => !name.startsWith('PodDisruptionBudget')),
    ],
  ])('%s', async (_what, values, expected) => {
    expect([...ofAdmin(await manifestsWith(values))].sort()).toEqual([...expected].sort());
  });
});

it('releases of one name in two namespaces share no object of the cluster', async () => {
  const ofCluster = async (namespace: string): Promise<readonly string[]> =>
    (await manifestsWith({}, { namespace })).flatMap(({ kind, metadata }) =>
      metadata.namespace === undefined ? [`${kind} ${metadata.name}`] : [],
    );
  const names = await Promise.all(['reroll', 'tools'].map(ofCluster));
  expect(names[0]).toContain('ClusterRole reroll-viewer');
  expect(names[1]).toContain('ClusterRole tools-reroll-viewer');
  expect(new Set(names.flat()).size).toBe(names.flat().length);
});

describe('the pod of admin', () => {
  it('has no key of the hashes, nothing of what is watched, and a ServiceAccount of its own', async () => {
    const reloader = {
      serviceAccount: { name: 'mine' },
      namespaceSelector: 'a=b',
      autoReloadAll: true,
      ignoreSecrets: true,
      ignoreJobs: true,
    };
    const { pod, args } = workload(await manifestsWith({ reloader }), 'admin');
    expect(args).toEqual([
      'admin',
      '--redis-host=reroll-redis',
      '--redis-username=reroll-admin',
      '--redis-password-file=/etc/reroll/redis/password',
    ]);
    expect(JSON.stringify(pod)).not.toContain('hash-keys');
    expect(at(pod, 'serviceAccountName')).toBe(ADMIN);
    const named = await admin({ serviceAccount: { name: 'yours' } });
    expect(at(named.pod, 'serviceAccountName')).toBe('yours');
  });

  it.each([
    ['made here', { create: true, name: 'mine' }, '', [ADMIN]],
    ['made here, whoever makes that of the others', { create: false, name: 'mine' }, '', [ADMIN]],
    ['made by others, if it has their name', { create: false, name: 'mine' }, 'yours', []],
  ])('has a ServiceAccount that is %s', async (_what, serviceAccount, name, made) => {
    const values = { reloader: { serviceAccount }, admin: { serviceAccount: { name } } };
    const accounts = ofAdmin(await manifestsWith(values)).filter((each) => each.startsWith('ServiceAccount'));
    expect(accounts).toEqual(made.map((each) => `ServiceAccount ${each}`));
  });

  it('is not replaced when the key of the hashes is', async () => {
    const annotations = at((await admin({})).object, 'spec.template.metadata.annotations') ?? {};
    expect(Object.keys(annotations)).toEqual([]);
  });

  it.each([
    ['static-tokens', { auth: 'static', staticTokens: { list: [TOKEN] } }, 'reroll-admin-static-tokens'],
    [
      'static-tokens',
      { auth: 'static', staticTokens: { existingSecret: 'yours', existingSecretKey: 'k' } },
      'yours',
    ],
    ['api-tls', { tls: { existingSecret: 'certificate' } }, 'certificate'],
  ])('has %s as a volume, as files that it reads anew: %j', async (name, values, secretName) => {
    const { pod, container } = await admin(values);
    const volumes = at(pod, 'volumes') as readonly { name: string; secret?: { secretName: string } }[];
    expect(volumes.find((volume) => volume.name === name)?.secret).toMatchObject({
      secretName,
      defaultMode: 0o440,
    });
    expect(at(container, 'volumeMounts')).toContainEqual({
      name,
      mountPath: `/etc/reroll/${name}`,
      readOnly: true,
    });
  });

  it('has what the values say of all pods', async () => {
    const deployment = { priorityClassName: 'high', labels: { team: 'a' }, nodeSelector: { disk: 'ssd' } };
    const { pod, object } = workload(await manifestsWith({ reloader: { deployment } }), 'admin');
    expect(pod).toMatchObject({ priorityClassName: 'high', nodeSelector: { disk: 'ssd' } });
    expect(at(object, 'spec.template.metadata.labels.team')).toBe('a');
  });
});

it('a list of tokens is kept in a Secret, and a Secret of yours in none', async () => {
  const values = { auth: 'static', staticTokens: { list: [TOKEN] } };
  const secret = find(await manifestsWith({ admin: values }), 'Secret', 'reroll-admin-static-tokens');
  const data = at(secret, 'stringData') as Readonly<Record<string, string>>;
  expect(JSON.parse(data['tokens.yaml'] ?? '')).toEqual([TOKEN]);
  const yours = { auth: 'static', staticTokens: { existingSecret: 's' } };
  expect(ofAdmin(await manifestsWith({ admin: yours })).filter((each) => each.startsWith('Secret'))).toEqual(
    [],
  );
});

describe('the Service of admin', () => {
  it.each([
    ['plain HTTP', {}, { name: 'api', port: 80, targetPort: 'api', appProtocol: 'http' }],
    [
      'TLS',
      { tls: { existingSecret: 's' }, service: { port: 443 } },
      { name: 'api', port: 443, targetPort: 'api', appProtocol: 'https' },
    ],
  ])('leads to its pods, and says that it speaks %s', async (_what, values, port) => {
    const manifests = await manifestsWith({ admin: values });
    const service = find(manifests, 'Service', ADMIN);
    expect(at(service, 'spec.ports')).toEqual([port]);
    expect(at(service, 'spec.selector')).toEqual(
      at(workload(manifests, 'admin').object, 'spec.selector.matchLabels'),
    );
    expect(service.metadata.labels).toMatchObject({
      'app.kubernetes.io/part-of': 'reroll',
      'app.kubernetes.io/component': 'admin',
    });
  });

  it('has the type, labels and annotations that it is given', async () => {
    const service = { type: 'LoadBalancer', labels: { a: 'b' }, annotations: { c: 'd' } };
    const found = find(await manifestsWith({ admin: { service } }), 'Service', ADMIN);
    expect(found).toMatchObject({
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
      spec: { type: 'LoadBalancer' },
    });
  });
});

describe('who people are bound to', () => {
  it.each([
    ['viewer', ['get /reroll/api/*', 'post /reroll/api/v1/preview'], ['view', 'edit', 'admin']],
    ['operator', ['get,post,put /reroll/api/*'], ['edit', 'admin']],
  ])('the %s may use these paths', async (name, paths, aggregated) => {
    const rules = async (values: ChartValues): Promise<Manifest> =>
      find(await manifestsWith({ admin: values }), 'ClusterRole', `reroll-${name}`);
    const role = await rules({});
    const found = at(role, 'rules') as readonly { verbs: string[]; nonResourceURLs: string[] }[];
    expect(
      found.map(({ verbs, nonResourceURLs }) => `${verbs.join(',')} ${nonResourceURLs.join(',')}`),
    ).toEqual(paths);
    const labels = (object: Manifest): readonly string[] =>
      Object.keys(object.metadata.labels ?? {}).flatMap((key) => /aggregate-to-(.*)$/u.exec(key)?.[1] ?? []);
    expect(labels(role)).toEqual([]);
    expect([...labels(await rules({ rbac: { aggregate: true } }))].sort()).toEqual([...aggregated].sort());
  });
});

describe('from outside of the cluster', () => {
  it('an Ingress leads to the API, with its TLS', async () => {
    const tls = [{ secretName: 'certificate', hosts: ['reroll.example'] }];
    const ingress = {
      enabled: true,
      className: 'nginx',
      hosts: ['reroll.example', 'r.example'],
      tls,
      annotations: { a: 'b' },
    };
    const found = find(await manifestsWith({ admin: { ingress } }), 'Ingress', ADMIN);
    const backend = { service: { name: ADMIN, port: { name: 'api' } } };
    const http = { paths: [{ path: '/', pathType: 'Prefix', backend }] };
    expect(found).toMatchObject({
      metadata: { annotations: { a: 'b' } },
      spec: {
        ingressClassName: 'nginx',
        tls,
        rules: [
          { host: 'reroll.example', http },
          { host: 'r.example', http },
        ],
      },
    });
  });

  it('an HTTPRoute leads to the API, below a path too', async () => {
    const route = {
      enabled: true,
      parentRefs: [{ name: 'gateway', sectionName: 'https' }],
      hostnames: ['h'],
    };
    const specOf = async (httpRoute: ChartValues): Promise<unknown> =>
      at(find(await manifestsWith({ admin: { httpRoute } }), 'HTTPRoute', ADMIN), 'spec');
    const backendRefs = [{ name: ADMIN, port: 80 }];
    const matches = (value: string): unknown => [{ path: { type: 'PathPrefix', value } }];
    const { enabled: _enabled, ...given } = route;
    expect(await specOf(route)).toEqual({ ...given, rules: [{ matches: matches('/'), backendRefs }] });
    expect(await specOf({ ...route, path: '/reroll' })).toEqual({
      ...given,
      rules: [
        {
          matches: matches('/reroll'),
          filters: [
            {
              type: 'URLRewrite',
              urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } },
            },
          ],
          backendRefs,
        },
      ],
    });
  });
});

it.each([
  [{}, true],
  [{ enabled: false }, false],
  [{ replicas: 0 }, false],
  [{ tls: { existingSecret: 's' } }, false],
])('helm test asks admin where it can: %j', async (values, asks) => {
  const pod = find(await manifestsWith({ admin: values }), 'Pod', 'reroll-test');
  expect(JSON.stringify(pod).includes('"value":"http://reroll-admin:80"')).toBe(asks);
});
