import { beforeAll, describe, expect, it } from 'vitest';
import { at, find, workload } from '../look.ts';
import { manifestsWith, type ChartValues, type Manifest } from '../render.ts';
import { isAllowed, type End } from '../testing/reachability.ts';

const API_SERVER: End = { address: '10.0.0.1' };
const INTERNET: End = { address: '93.184.216.34' };
const DNS: End = { labels: { 'k8s-app': 'kube-dns' }, namespaceLabels: { name: 'kube-system' } };
const PROMETHEUS: End = { labels: { app: 'prometheus' }, namespaceLabels: { team: 'monitoring' } };
const NEIGHBOR: End = { labels: { app: 'shop' } };
const STRANGER: End = { labels: { app: 'shop' }, namespaceLabels: { team: 'shop' } };
const KEDA: End = {
  labels: { app: 'keda-operator' },
  namespaceLabels: { 'kubernetes.io/metadata.name': 'keda' },
};
const REDIS_OF_YOURS: End = { address: '10.2.0.5' };

type Row = readonly [from: string, to: string, port: number, isAllowed: boolean, protocol?: 'UDP'];

/** By name; our processes and redis are the pods that the chart renders. */
function endsOf(manifests: readonly Manifest[]): Readonly<Record<string, End>> {
  const pod = (component: string): End => ({
    labels: at(workload(manifests, component).object, 'spec.template.metadata.labels') as Record<
      string,
      string
    >,
  });
  const pods = ['watcher', 'worker', 'admin', 'standalone', 'redis'].filter((component) =>
    manifests.some(
      ({ metadata, kind }) =>
        ['Deployment', 'StatefulSet'].includes(kind) && metadata.name === `reroll-${component}`,
    ),
  );
  return {
    ...Object.fromEntries(pods.map((component) => [component, pod(component)])),
    'helm test': { labels: find(manifests, 'Pod', 'reroll-test').metadata.labels ?? {} },
    'the API server': API_SERVER,
    'the internet': INTERNET,
    DNS,
    Prometheus: PROMETHEUS,
    KEDA,
    'a neighbor': NEIGHBOR,
    'a stranger': STRANGER,
    'your Redis': REDIS_OF_YOURS,
  };
}

const DEFAULT: readonly Row[] = ['watcher', 'worker', 'admin'].flatMap((process): Row[] => [
  [process, 'DNS', 53, true, 'UDP'],
  [process, 'DNS', 53, true],
  [process, 'DNS', 5353, false, 'UDP'],
  [process, 'the internet', 53, true, 'UDP'],
  [process, 'a neighbor', 53, true],
  [process, 'the API server', 443, true],
  [process, 'the API server', 6443, true],
  [process, 'the API server', 10250, false],
  [process, 'the internet', 443, true],
  [process, 'the internet', 80, false],
  [process, 'redis', 6379, true],
  [process, 'redis', 22, false],
  [process, 'a neighbor', 6379, false],
  [process, 'a neighbor', 8080, false],
  ['a neighbor', process, 8080, process === 'admin'],
  ['the internet', process, 8080, process === 'admin'],
  ['Prometheus', process, 9090, true],
  ['a neighbor', process, 9090, true],
  ['a neighbor', process, 6060, false],
  ['the internet', process, 22, false],
]);
const TEST: readonly Row[] = [
  ['helm test', 'DNS', 53, true, 'UDP'],
  ['helm test', 'the API server', 6443, true],
  ['helm test', 'the internet', 80, false],
  ['a neighbor', 'helm test', 22, false],
];
const REDIS: readonly Row[] = [
  ['a neighbor', 'redis', 6379, false],
  ['a stranger', 'redis', 6379, false],
  ['Prometheus', 'redis', 6379, false],
  ['redis', 'DNS', 53, false, 'UDP'],
  ['redis', 'the internet', 443, false],
  ['redis', 'watcher', 9090, false],
];

const OURS: readonly Row[] = ['watcher', 'worker', 'admin'].map((process) => [process, 'redis', 6379, true]);

const CASES: readonly (readonly [string, ChartValues, readonly Row[]])[] = [
  [
    'the values of the chart',
    {},
    [
      ...OURS,
      ...REDIS,
      ['KEDA', 'redis', 6379, false],
      ['watcher', 'the internet', 80, true],
      ['worker', 'the internet', 80, true],
      ['a neighbor', 'admin', 9090, true],
    ],
  ],
  [
    'KEDA, which looks into Redis',
    { worker: { keda: { enabled: true } }, reloader: { clusterName: 'a' } },
    [...OURS, ...REDIS, ['KEDA', 'redis', 6379, true]],
  ],
  [
    'networkPolicy.redis.enabled: false',
    { networkPolicy: { redis: { enabled: false } } },
    [...OURS, ['a stranger', 'redis', 6379, true], ['redis', 'the internet', 443, true]],
  ],
  [
    'a service mesh, which reaches Redis on a port of its own',
    {
      networkPolicy: {
        redis: {
          extraIngress: [{ ports: [{ protocol: 'TCP', port: 15_008 }] }],
          extraEgress: [
            {
              to: [{ namespaceSelector: { matchLabels: { name: 'kube-system' } } }],
              ports: [{ protocol: 'UDP', port: 53 }],
            },
          ],
        },
      },
    },
    [
      ...OURS,
      ['worker', 'redis', 15_008, true],
      ['a stranger', 'redis', 15_008, true],
      ['a stranger', 'redis', 6379, false],
      ['redis', 'DNS', 53, true, 'UDP'],
      ['redis', 'DNS', 53, false],
      ['redis', 'the internet', 443, false],
    ],
  ],
  [
    'networkPolicy.enabled',
    { networkPolicy: { enabled: true } },
    [
      ...DEFAULT,
      ...REDIS,
      ...TEST,
      ['helm test', 'admin', 8080, true],
      ['helm test', 'admin', 9090, false],
      ['helm test', 'redis', 6379, false],
    ],
  ],
  [
    'netpol.enabled, as the chart of stakater/Reloader has it',
    { reloader: { netpol: { enabled: true } } },
    [...DEFAULT, ...REDIS],
  ],
  [
    'addresses of the API server and peers',
    {
      networkPolicy: {
        enabled: true,
        dns: {
          to: [
            {
              namespaceSelector: { matchLabels: { name: 'kube-system' } },
              podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
            },
          ],
        },
        apiServer: { cidrs: ['10.0.0.0/24'], ports: [6443] },
        metrics: { from: [{ namespaceSelector: { matchLabels: { team: 'monitoring' } } }] },
        redis: { from: [{ podSelector: { matchLabels: { app: 'shop' } } }] },
        admin: { from: [{ ipBlock: { cidr: '10.0.0.0/24' } }] },
        extraEgress: [{ to: [{ ipBlock: { cidr: '93.184.216.0/24' } }], ports: [{ port: 8443 }] }],
      },
    },
    [
      ['watcher', 'DNS', 53, true, 'UDP'],
      ['worker', 'DNS', 53, true],
      ['worker', 'the internet', 53, false, 'UDP'],
      ['watcher', 'the internet', 53, false],
      ['watcher', 'a neighbor', 53, false],
      ['watcher', 'the API server', 6443, true],
      ['watcher', 'the API server', 443, false],
      ['watcher', 'the internet', 6443, false],
      ['watcher', 'the internet', 8443, false],
      ['worker', 'the internet', 8443, true],
      ['admin', 'the internet', 8443, false],
      ['the API server', 'admin', 8080, true],
      ['a neighbor', 'admin', 8080, false],
      ['Prometheus', 'worker', 9090, true],
      ['a stranger', 'worker', 9090, false],
      ['a neighbor', 'worker', 9090, false],
      ['a neighbor', 'redis', 6379, true],
      ['a stranger', 'redis', 6379, false],
    ],
  ],
  [
    'netpol.from and netpol.to',
    {
      reloader: {
        netpol: {
          enabled: true,
          from: [{ podSelector: { matchLabels: { app: 'shop' } } }],
          to: [{ ipBlock: { cidr: '10.0.0.1/32' } }],
        },
      },
    },
    [
      ['a neighbor', 'watcher', 9090, true],
      ['Prometheus', 'watcher', 9090, false],
      ['watcher', 'the API server', 443, true],
      ['watcher', 'the API server', 6443, true],
      ['watcher', 'the internet', 443, false],
      ['watcher', 'DNS', 53, true, 'UDP'],
    ],
  ],
  [
    'a Redis of yours',
    {
      networkPolicy: { enabled: true, redis: { to: [{ ipBlock: { cidr: '10.2.0.0/16' } }] } },
      redis: { enabled: false, external: { host: 'r', port: 6380 } },
    },
    [
      ['worker', 'your Redis', 6380, true],
      ['worker', 'your Redis', 6379, false],
      ['worker', 'the internet', 6380, false],
    ],
  ],
  [
    'Sentinels',
    {
      networkPolicy: { enabled: true },
      redis: { enabled: false, external: { sentinel: { hosts: ['a:26380', 'b'], master: 'm' } } },
    },
    [
      ['worker', 'your Redis', 26380, true],
      ['worker', 'your Redis', 26379, true],
      ['worker', 'your Redis', 6379, true],
      ['worker', 'your Redis', 7000, false],
    ],
  ],
  [
    'a URL',
    {
      networkPolicy: { enabled: true },
      redis: { enabled: false, external: { url: 'rediss://u:p@r.example:7777/1' } },
    },
    [
      ['worker', 'your Redis', 7777, true],
      ['worker', 'your Redis', 6379, false],
    ],
  ],
  [
    'a URL with a query',
    {
      networkPolicy: { enabled: true },
      redis: { enabled: false, external: { url: 'rediss://u:p@r.example:7777/0?family=6' } },
    },
    [
      ['worker', 'your Redis', 7777, true],
      ['worker', 'your Redis', 6379, false],
    ],
  ],
  [
    'a URL with a query and no port',
    {
      networkPolicy: { enabled: true },
      redis: { enabled: false, external: { url: 'rediss://u:7777@r.example?name=a:7778' } },
    },
    [
      ['worker', 'your Redis', 6379, true],
      ['worker', 'your Redis', 7777, false],
      ['worker', 'your Redis', 7778, false],
    ],
  ],
  [
    'a URL in a Secret, and a port for it',
    {
      networkPolicy: { enabled: true, redis: { to: [{ ipBlock: { cidr: '10.2.0.0/16' } }], ports: [6380] } },
      redis: {
        enabled: false,
        external: { existingSecret: 'redis', existingSecretKeys: { url: 'url' } },
      },
    },
    [
      ['worker', 'your Redis', 6380, true],
      ['worker', 'the internet', 6380, false],
      ['worker', 'your Redis', 7000, false],
    ],
  ],
  [
    'Sentinels whose master has another port',
    {
      networkPolicy: { enabled: true, redis: { ports: [7000, 26379] } },
      redis: { enabled: false, external: { sentinel: { hosts: ['a'], master: 'm' } } },
    },
    [
      ['worker', 'your Redis', 7000, true],
      ['worker', 'your Redis', 26379, true],
    ],
  ],
  [
    'one process, whose standby hands callers on to the leader',
    {
      mode: 'standalone',
      networkPolicy: { enabled: true, admin: { from: [{ podSelector: { matchLabels: { app: 'shop' } } }] } },
    },
    [
      ['standalone', 'DNS', 53, true, 'UDP'],
      ['standalone', 'the API server', 6443, true],
      ['standalone', 'standalone', 8080, true],
      ['standalone', 'standalone', 22, false],
      ['standalone', 'a neighbor', 6379, false],
      ['standalone', 'the internet', 80, false],
      ['a neighbor', 'standalone', 8080, true],
      ['a stranger', 'standalone', 8080, false],
      ['a stranger', 'standalone', 6379, false],
      ['Prometheus', 'standalone', 9090, true],
    ],
  ],
  [
    'one process without an API, and with a Redis of yours',
    {
      mode: 'standalone',
      admin: { enabled: false },
      networkPolicy: {
        enabled: true,
        redis: { to: [{ ipBlock: { cidr: '10.2.0.0/16' } }] },
        extraEgress: [{ to: [{ ipBlock: { cidr: '93.184.216.0/24' } }], ports: [{ port: 8443 }] }],
      },
      redis: { enabled: false, external: { host: 'r', port: 6380 } },
    },
    [
      ['standalone', 'your Redis', 6380, true],
      ['standalone', 'standalone', 8080, false],
      ['standalone', 'the internet', 8443, true],
      ['a neighbor', 'standalone', 8080, false],
    ],
  ],
  [
    'OpenShift, whose DNS has a port of its own',
    { networkPolicy: { enabled: true }, reloader: { isOpenshift: true } },
    [['watcher', 'DNS', 5353, true, 'UDP']],
  ],
  [
    'another port for metrics',
    { networkPolicy: { enabled: true }, reloader: { metricsPort: 8081 } },
    [
      ['Prometheus', 'watcher', 8081, true],
      ['Prometheus', 'watcher', 9090, false],
    ],
  ],
  [
    'another port for the API',
    { networkPolicy: { enabled: true }, admin: { port: 8443 } },
    [
      ['a neighbor', 'admin', 8443, true],
      ['a neighbor', 'admin', 8080, false],
    ],
  ],
];

describe.each(CASES)('with %s', (_what, values, rows) => {
  let manifests: readonly Manifest[];
  beforeAll(async () => {
    manifests = await manifestsWith(values);
  });

  it.each(rows)('from %s to %s on port %i: %s', (...row) => {
    const [from, to, port, expected, protocol] = row as unknown as Row;
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
    const ends = endsOf(manifests);
    const [source, target] = [ends[from], ends[to]];
    if (!source || !target) throw new Error(`expected ends named ${from} and ${to}`);
    const connection = { from: source, to: target, port, ...(protocol ? { protocol } : {}) };
    expect(isAllowed(policies, connection)).toBe(expected);
  });
});

it('the DNS of OpenShift may be reached where the API server is that of OpenShift', async () => {
  const ports = async (api: string): Promise<string> =>
    JSON.stringify(
      find(
        await manifestsWith({ networkPolicy: { enabled: true } }, { api }),
        'NetworkPolicy',
        'reroll-watcher',
      ),
    );
  expect(await ports('security.openshift.io/v1')).toContain('5353');
  expect(await ports('apps.openshift.io/v1')).not.toContain('5353');
});

it('there is none beside a Redis of yours', async () => {
  const manifests = await manifestsWith({ redis: { enabled: false, external: { host: 'r' } } });
  expect(manifests.filter(({ kind }) => kind === 'NetworkPolicy')).toEqual([]);
});

describe('what the table above does not understand is an error, never an answer:', () => {
  const from = { labels: {} };
  const to = { address: '10.0.0.1' };
  const peer = (to: unknown): unknown => ({ to: [to] });

  it.each([
    ['ranges of ports', { ports: [{ port: 1, endPort: 2 }] }],
    ['names of ports', { ports: [{ port: 'http' }] }],
    ['addresses left out', peer({ ipBlock: { cidr: '10.0.0.0/8', except: ['10.0.0.0/9'] } })],
    ['addresses of IPv6', peer({ ipBlock: { cidr: 'fd00::/8' } })],
    ['expressions', peer({ podSelector: { matchExpressions: [] } })],
    ['other keys', { too: [] }],
  ])('%s', (_what, rule) => {
    const spec = { podSelector: {}, policyTypes: ['Egress'], egress: [rule] };
    const policy = { apiVersion: 'v1', kind: 'NetworkPolicy', metadata: { name: 'p' }, spec };
    expect(() => isAllowed([policy], { from, to, port: 9 })).toThrow(/^expected /u);
  });
});
