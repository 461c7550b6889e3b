import { describe, expect, it } from 'vitest';
import { manifestsWith, type ChartValues, type Manifest } from '../render.ts';

const MONITORS = { serviceMonitor: 'ServiceMonitor', podMonitor: 'PodMonitor' } as const;

async function specOf(kind: string, values: ChartValues): Promise<Record<string, unknown>> {
  const found = (await manifestsWith(values)).find((each) => each.kind === kind);
  return (found as { spec?: Record<string, unknown> } | undefined)?.spec ?? {};
}

const services = (manifests: readonly Manifest[]): readonly string[] =>
  manifests.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name);

describe.each(Object.entries(MONITORS))('reloader.%s', (name, kind) => {
  it(`makes a ${kind} of our processes, not of Redis, in the namespace of the objects`, async () => {
    const spec = await specOf(kind, { namespace: 'elsewhere', reloader: { [name]: { enabled: true } } });
    expect(spec).toMatchObject({
      namespaceSelector: { matchNames: ['elsewhere'] },
      selector: {
        matchLabels: { 'app.kubernetes.io/name': 'reroll', 'app.kubernetes.io/instance': 'reroll' },
        matchExpressions: [
          {
            key: 'app.kubernetes.io/component',
            operator: 'In',
            values: ['watcher', 'worker', 'admin', 'admin-metrics', 'standalone'],
          },
        ],
      },
    });
  });

  it('passes on what it is given', async () => {
    const given = {
      interval: '10s',
      timeout: '5s',
      scheme: 'https',
      tlsConfig: { insecureSkipVerify: true },
      bearerTokenSecret: { name: 'token', key: 'token' },
      honorLabels: false,
      metricRelabelings: [{ action: 'drop', regex: 'nodejs_.*', sourceLabels: ['__name__'] }],
      relabelings: [{ action: 'labeldrop', regex: 'pod' }],
    };
    const spec = await specOf(kind, { reloader: { [name]: { enabled: true, ...given } } });
    const { timeout, ...same } = given;
    const endpoints = spec[kind === 'PodMonitor' ? 'podMetricsEndpoints' : 'endpoints'];
    expect(endpoints).toEqual([{ port: 'http', path: '/metrics', scrapeTimeout: timeout, ...same }]);
  });
});

it.each(Object.entries(MONITORS))(
  'what two releases of the same name put into one namespace, with %s, has different names there',
  async (monitor, kind) => {
    const there = { enabled: true, namespace: 'monitoring' };
    const values = { reloader: { [monitor]: there }, prometheusRule: there, grafanaDashboard: there };
    const namesOf = async (namespace: string): Promise<readonly string[]> =>
      (await manifestsWith(values, { namespace })).flatMap(({ kind, metadata }) =>
        metadata.labels?.['app.kubernetes.io/component'] === 'monitoring' ? [`${kind} ${metadata.name}`] : [],
      );
    const names = (prefix: string): string[] =>
      ['ConfigMap reroll-dashboard', `${kind} reroll`, 'PrometheusRule reroll']
        .map((name) => name.replace(' ', ` ${prefix}`))
        .sort();
    expect((await namesOf('blue')).toSorted()).toEqual(names('blue-'));
    expect((await namesOf('green')).toSorted()).toEqual(names('green-'));
    expect((await namesOf('monitoring')).toSorted()).toEqual(names(''));
  },
);

describe('Services for metrics', () => {
  it('are made for a ServiceMonitor, one a component, on the port named http', async () => {
    const manifests = await manifestsWith({ reloader: { serviceMonitor: { enabled: true } } });
    expect(services(manifests)).toEqual(
      expect.arrayContaining(['reroll-watcher', 'reroll-worker', 'reroll-admin-metrics']),
    );
    const watcher = manifests.find(
      ({ kind, metadata }) => kind === 'Service' && metadata.name === 'reroll-watcher',
    );
    expect(watcher).toMatchObject({
      spec: {
        ports: [{ name: 'http', port: 9090, targetPort: 'http' }],
        selector: { 'app.kubernetes.io/component': 'watcher', 'app.kubernetes.io/instance': 'reroll' },
      },
    });
  });

  it.each([[{ port: 8080 }], [{ labels: { team: 'a' } }], [{ annotations: { note: 'b' } }]])(
    'are made when reloader.service is %j, always with a port',
    async (service) => {
      const manifests = await manifestsWith({ reloader: { service } });
      const ports = manifests.flatMap((each) =>
        each.kind === 'Service' && each.metadata.name !== 'reroll-redis'
          ? (each as unknown as { spec: { ports: { name: string; port: number }[] } }).spec.ports.flatMap(
              ({ name, port }) => (name === 'http' ? [port] : []),
            )
          : [],
      );
      expect(ports).toEqual(Array.from({ length: 3 }, () => ('port' in service ? service.port : 9090)));
    },
  );

  it('are not open to the outside, even if the admin is: its own Service has the API alone', async () => {
    const manifests = await manifestsWith({
      reloader: { serviceMonitor: { enabled: true }, service: { annotations: { note: 'b' } } },
      admin: { service: { type: 'LoadBalancer' } },
    });
    const portsOf = (name: string): object => {
      const found = manifests.find((each) => each.kind === 'Service' && each.metadata.name === name);
      const { type, ports } = (found as unknown as { spec: { type: string; ports: { name: string }[] } })
        .spec;
      return { type, ports: ports.map((port) => port.name), annotations: found?.metadata.annotations };
    };
    expect(portsOf('reroll-admin')).toEqual({ type: 'LoadBalancer', ports: ['api'], annotations: undefined });
    expect(portsOf('reroll-admin-metrics')).toEqual({
      type: 'ClusterIP',
      ports: ['http'],
      annotations: { note: 'b' },
    });
    expect(manifests).toContainEqual(
      expect.objectContaining({
        kind: 'Service',
        metadata: expect.objectContaining({
          name: 'reroll-admin-metrics',
          // The command line takes Services of the component admin for the API.
          labels: expect.objectContaining({ 'app.kubernetes.io/component': 'admin-metrics' }) as object,
        }) as object,
        spec: expect.objectContaining({
          selector: expect.objectContaining({ 'app.kubernetes.io/component': 'admin' }) as object,
        }) as object,
      }),
    );
  });

  it('are made for no admin that is not there, and not twice for one process', async () => {
    const reloader = { serviceMonitor: { enabled: true } };
    const without = await manifestsWith({ reloader, admin: { enabled: false } });
    expect(services(without)).toEqual(['reroll-watcher', 'reroll-worker', 'reroll-redis']);
    const standalone = await manifestsWith({ reloader, mode: 'standalone' });
    expect(services(standalone)).toEqual(['reroll-admin', 'reroll-standalone']);
  });

  it('are not made otherwise', async () => {
    expect(services(await manifestsWith())).toEqual(['reroll-admin', 'reroll-redis']);
  });
});
