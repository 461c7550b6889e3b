import { beforeAll, describe, expect, it } from 'vitest';
import { at } from '../look.ts';
import { manifestsWith, type ChartValues, type Manifest } from '../render.ts';
import { rulesOf } from '../testing/facts.ts';

/** What the ServiceAccount may do, by the Role that says so: `ClusterRole`, or `Role in <namespace>`. */
function rightsOf(
  account: string,
  manifests: readonly Manifest[],
): Readonly<Record<string, readonly string[]>> {
  const rights: Record<string, readonly string[]> = {};
  for (const binding of manifests.filter(({ kind }) => kind.endsWith('RoleBinding'))) {
    const subjects = at(binding, 'subjects') as readonly { kind: string; name: string; namespace: string }[];
    if (!subjects.some(({ name, namespace }) => name === account && namespace === 'reroll')) continue;
    const ref = at(binding, 'roleRef') as { kind: string; name: string };
    const { namespace } = binding.metadata;
    const role = manifests.find(
      (each) =>
        each.kind === ref.kind &&
        each.metadata.name === ref.name &&
        (ref.kind === 'ClusterRole' || each.metadata.namespace === namespace),
    );
    const where = binding.kind === 'ClusterRoleBinding' ? 'ClusterRole' : `Role in ${namespace}`;
    const rules = rulesOf(at(role, 'rules') as Parameters<typeof rulesOf>[0]).map((rule) => rule.slice(4));
    rights[where] = [...(rights[where] ?? []), ...rules].sort();
  }
  return rights;
}

// The Event on the Lease tells that Redis is full.
const LEASE = [
  'create coordination.k8s.io/leases',
  'get,update coordination.k8s.io/leases[reroll-watcher]',
  'create events',
];
const META_INFO = ['create configmaps', 'get,update configmaps[reloader-meta-info]'];
const IDENTITY = 'get namespaces[kube-system]';
/** To tell what annotations of Namespaces hold. */
const HOLDS = 'get namespaces';
const WATCHED = [
  'list,watch apps/daemonsets',
  'list,watch apps/deployments',
  'list,watch apps/statefulsets',
  'list,watch batch/cronjobs',
  'list,watch batch/jobs',
  'list,watch configmaps',
  'list,watch secrets',
];
const WORKED_ON_THERE = [
  'create events',
  'create,delete,get,patch batch/jobs',
  'get configmaps',
  'get namespaces',
  'get secrets',
  'get,patch apps/daemonsets',
  'get,patch apps/deployments',
  'get,patch apps/statefulsets',
  'get,patch batch/cronjobs',
];
const WORKED_ON = WORKED_ON_THERE.map((right) =>
  right === 'get namespaces' ? 'get,list,watch namespaces' : right,
);

const STATIC = { auth: 'static', staticTokens: { existingSecret: 'tokens' } };
const REVIEWS = [
  'create authentication.k8s.io/tokenreviews',
  'create authorization.k8s.io/subjectaccessreviews',
];

const ALL: readonly (readonly [string, ChartValues, Record<string, Record<string, string[]>>])[] = [
  [
    'an install for all namespaces',
    {},
    {
      'reroll-watcher': {
        ClusterRole: [...WATCHED, IDENTITY].sort(),
        'Role in reroll': [...LEASE, ...META_INFO].sort(),
      },
      'reroll-worker': { ClusterRole: [...WORKED_ON, IDENTITY].sort() },
      'reroll-admin': { ClusterRole: [...REVIEWS, HOLDS, IDENTITY].sort() },
      'reroll-redis': {},
      'reroll-test': {
        'Role in reroll': ['get apps/deployments[reroll-test]', 'patch configmaps[reroll-test]'],
      },
    },
  ],
  [
    'a scoped install, with Roles only',
    { reloader: { watchGlobally: false, namespaces: ['shop'] } },
    {
      'reroll-watcher': {
        'Role in shop': WATCHED,
        'Role in reroll': [...WATCHED, ...LEASE, ...META_INFO].sort(),
      },
      'reroll-worker': { 'Role in shop': WORKED_ON_THERE, 'Role in reroll': WORKED_ON_THERE },
      'reroll-redis': {},
      'reroll-admin': {},
      'reroll-test': {
        'Role in reroll': ['get apps/deployments[reroll-test]', 'patch configmaps[reroll-test]'],
      },
    },
  ],
  [
    'a scoped install that may ask whose a token is',
    { reloader: { watchGlobally: false }, admin: { rbac: { clusterWide: true } } },
    {
      'reroll-worker': { 'Role in reroll': WORKED_ON_THERE },
      'reroll-admin': { ClusterRole: REVIEWS },
    },
  ],
  [
    'an install with static tokens',
    { admin: STATIC },
    {
      'reroll-worker': { ClusterRole: [...WORKED_ON, IDENTITY].sort() },
      'reroll-admin': { ClusterRole: [HOLDS, IDENTITY] },
    },
  ],
  [
    'one process, which has the rights of all three and no others',
    { mode: 'standalone' },
    {
      'reroll-watcher': {
        ClusterRole: [...WATCHED, ...WORKED_ON, ...REVIEWS, HOLDS, IDENTITY, IDENTITY, IDENTITY].sort(),
        'Role in reroll': [...LEASE, ...META_INFO].sort(),
      },
      'reroll-worker': {},
      'reroll-admin': {},
    },
  ],
  [
    'one process of a scoped install, under an account of yours',
    {
      mode: 'standalone',
      reloader: { watchGlobally: false, serviceAccount: { create: false, name: 'mine' } },
    },
    { mine: { 'Role in reroll': [...WATCHED, ...WORKED_ON_THERE, ...LEASE, ...META_INFO].sort() } },
  ],
  [
    'a scoped install with static tokens',
    { reloader: { watchGlobally: false }, admin: STATIC },
    { 'reroll-admin': {} },
  ],
];

describe.each(ALL)('in %s', (_what, values, expected) => {
  let manifests: readonly Manifest[];
  beforeAll(async () => {
    manifests = await manifestsWith(values);
  });

  it.each(Object.keys(expected))('%s may do this and no more', (account) => {
    expect(rightsOf(account, manifests)).toEqual(expected[account]);
  });
});

const everyRight = (account: string, manifests: readonly Manifest[]): readonly string[] =>
  Object.values(rightsOf(account, manifests)).flat();

describe('rights are widened only by what needs them:', () => {
  // What each of the others adds is in incumbent-values.spec.ts.
  it('by the details of rollouts and another Lease', async () => {
    const reloader = { rolloutDetails: true, lease: { name: 'mine' } };
    const [before, after] = [await manifestsWith(), await manifestsWith({ reloader })];
    const more = (account: string): readonly string[] => {
      const had = everyRight(account, before);
      return everyRight(account, after).filter((right) => !had.includes(right));
    };
    expect(more('reroll-watcher')).toEqual(['list pods', 'get,update coordination.k8s.io/leases[mine]']);
    expect(more('reroll-worker')).toEqual([]);
    expect(more('reroll-admin')).toEqual([]);
  });

  it('by no kind that is asked for, of admin', async () => {
    const reloader = {
      isArgoRollouts: true,
      isOpenshift: true,
      enableCSIIntegration: true,
      namespaceSelector: 'a=b',
    };
    expect(everyRight('reroll-admin', await manifestsWith({ reloader }))).toEqual(
      everyRight('reroll-admin', await manifestsWith()),
    );
  });

  const narrower: readonly (readonly [string, ChartValues, string])[] = [
    ['cronJobStrategy patch creates no Job', { ignoreJobs: true, cronJobStrategy: 'patch' }, 'batch/jobs'],
    ['ignoreJobs and ignoreCronJobs leave batch alone', { ignoreJobs: true, ignoreCronJobs: true }, 'batch/'],
    [
      'metaInfo false writes no ConfigMap',
      { metaInfo: { enabled: false } },
      'configmaps[reloader-meta-info]',
    ],
  ];

  it.each(narrower)('%s, whether it watches all or some', async (_what, values, gone) => {
    for (const watchGlobally of [true, false]) {
      const manifests = await manifestsWith({ reloader: { ...values, watchGlobally } });
      for (const account of ['reroll-watcher', 'reroll-worker', 'reroll-admin'])
        expect(everyRight(account, manifests).filter((right) => right.includes(gone))).toEqual([]);
    }
  });
});

it('scoped releases of one name share a namespace, and no Role and no binding', async () => {
  const rights = async (namespace: string): Promise<readonly string[]> => {
    const values = { reloader: { watchGlobally: false, namespaces: ['shared'] } };
    const manifests = await manifestsWith(values, { namespace });
    const found = manifests.filter(
      ({ kind, metadata }) => kind.startsWith('Role') && metadata.namespace === 'shared',
    );
    for (const each of found.filter(({ kind }) => kind === 'RoleBinding'))
      expect(at(each, 'roleRef.name')).toBe(each.metadata.name);
    return found.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
  };
  expect(await rights('team-a')).toEqual([
    'Role team-a-reroll-watcher',
    'Role team-a-reroll-worker',
    'RoleBinding team-a-reroll-watcher',
    'RoleBinding team-a-reroll-worker',
  ]);
  const ofB = await rights('team-b');
  expect((await rights('team-a')).filter((each) => ofB.includes(each))).toEqual([]);
});

it('rbac.enabled false makes no Role, for helm test neither', async () => {
  const manifests = await manifestsWith({ reloader: { rbac: { enabled: false } } });
  expect(manifests.filter(({ kind }) => kind.includes('Role'))).toEqual([]);
});
