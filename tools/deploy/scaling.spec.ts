import { describe, expect, it } from 'vitest';
import { catalogKeys } from '@reroll/redis/catalog/keys';
import { parseOptions } from '@reroll/shared/platform/options/parsing/parse';
import { at, find, workload } from './look.ts';
import { externalRedis, manifestsWith, type ChartValues, type Manifest } from './render.ts';

const keda = (values: ChartValues = {}, rest: ChartValues = {}): Promise<readonly Manifest[]> =>
  manifestsWith({
    reloader: { clusterName: 'prod' },
    worker: { keda: { enabled: true, ...values } },
    ...rest,
  });

function scaled(manifests: readonly Manifest[]): unknown {
  return at(find(manifests, 'ScaledObject', 'reroll-worker'), 'spec');
}

describe('workers scaled by CPU', () => {
  it('have a HorizontalPodAutoscaler, and no number of their own', async () => {
    const manifests = await manifestsWith({
      worker: {
        autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 20, targetCPUUtilizationPercentage: 60 },
      },
    });
    expect(at(find(manifests, 'HorizontalPodAutoscaler', 'reroll-worker'), 'spec')).toEqual({
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'reroll-worker' },
      minReplicas: 3,
      maxReplicas: 20,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
        },
      ],
    });
    expect(at(workload(manifests, 'worker').object, 'spec.replicas')).toBeUndefined();
    expect(at(workload(manifests, 'watcher').object, 'spec.replicas')).toBe(2);
  });
});

it.each<[ChartValues]>([[{ controlledResources: ['memory'] }], [{ updatePolicy: { updateMode: 'Off' } }]])(
  'workers scaled by CPU can have their other resources from a VerticalPodAutoscaler: %j',
  async (values) => {
    const manifests = await manifestsWith({
      worker: { autoscaling: { enabled: true } },
      reloader: { verticalPodAutoscaler: { enabled: true, ...values } },
    });
    expect(at(find(manifests, 'VerticalPodAutoscaler', 'reroll-worker'), 'spec')).toBeDefined();
  },
);

describe('workers scaled by the depth of the queues', () => {
  it.each(['reroll', 'prod'])(
    'have it under the keys that the processes of the release %s use',
    async (release) => {
      const values = { reloader: { clusterName: 'c' }, worker: { keda: { enabled: true } } };
      const manifests = await manifestsWith(values, { release });
      const fullname = release === 'reroll' ? 'reroll' : `${release}-reroll`;
      const prefixes = (['watcher', 'worker', 'admin'] as const).map((component) => {
        const { args } = workload(manifests, component, fullname);
        const flags = args.filter((arg) => arg.startsWith('--lease-name='));
        const parsed = parseOptions(component, [...flags, '--redis-host=redis'], {});
        if (!parsed.ok) throw new Error(parsed.errors.join());
        return catalogKeys({ cluster: 'c', namespace: 'reroll', lease: parsed.options.leaseName }).prefix;
      });
      const scaledObject = at(find(manifests, 'ScaledObject', `${fullname}-worker`), 'spec');
      const [trigger] = at(scaledObject, 'triggers') as readonly { metadata: { listName: string } }[];
      for (const prefix of prefixes) expect(trigger?.metadata.listName).toBe(`${prefix}:changes:wait`);
    },
  );

  it('have a ScaledObject on what waits in both queues of BullMQ, and no number of their own', async () => {
    const manifests = await keda({ jobsPerWorker: 20 });
    expect(at(workload(manifests, 'worker').object, 'spec.replicas')).toBeUndefined();
    const trigger = (waiting: string): unknown => ({
      type: 'redis',
      metadata: {
        address: 'reroll-redis.reroll.svc:6379',
        listName: `{reroll:prod:reroll}:${waiting}`,
        listLength: '20',
      },
      authenticationRef: { name: 'reroll-worker' },
    });
    expect(scaled(manifests)).toMatchObject({
      scaleTargetRef: { name: 'reroll-worker' },
      minReplicaCount: 1,
      maxReplicaCount: 10,
      triggers: ['changes:wait', 'changes:prioritized', 'reloads:wait', 'reloads:prioritized'].map(trigger),
    });
    expect(at(find(manifests, 'TriggerAuthentication', 'reroll-worker'), 'spec.secretTargetRef')).toEqual([
      { parameter: 'password', name: 'reroll-redis', key: 'keda-password' },
    ]);
  });

  it.each([
    [
      'in parts, with TLS and a user',
      {
        host: 'r.example',
        port: 6380,
        database: 3,
        existingSecret: 's',
        existingSecretKeys: { username: 'u', password: 'p' },
        tls: { enabled: true, caSecret: 'ca', certSecret: 'cert' },
      },
      { type: 'redis', metadata: { address: 'r.example:6380', databaseIndex: '3', enableTLS: 'true' } },
      ['username', 'password', 'ca', 'cert', 'key'],
    ],
    [
      'behind Sentinels',
      { sentinel: { hosts: ['a:1', 'b'], master: 'm', username: 'su', password: 'sp' }, password: 'p' },
      {
        type: 'redis-sentinel',
        metadata: { addresses: 'a:1,b:26379', sentinelMaster: 'm', sentinelUsername: 'su' },
      },
      ['password', 'sentinelPassword'],
    ],
    [
      'at an IPv6 address',
      { host: 'fd00::1' },
      { type: 'redis', metadata: { address: '[fd00::1]:6379' } },
      [],
    ],
    [
      'as a Cluster, without a password',
      { cluster: 'a:1,b' },
      { type: 'redis-cluster', metadata: { addresses: 'a:1,b:6379' } },
      [],
    ],
  ] as const)('know a Redis of yours %s', async (_how, values, trigger, parameters) => {
    const manifests = await keda({}, externalRedis(values));
    expect(at(scaled(manifests), 'triggers.0')).toMatchObject(trigger);
    const auth = manifests.find(({ kind }) => kind === 'TriggerAuthentication');
    const refs = (at(auth, 'spec.secretTargetRef') ?? []) as readonly { parameter: string }[];
    expect(refs.map(({ parameter }) => parameter)).toEqual(parameters);
    expect(at(scaled(manifests), 'triggers.0.authenticationRef') !== undefined).toBe(parameters.length > 0);
  });

  it('go after a while without need, which the autoscaler that KEDA makes has to wait', async () => {
    const spec = scaled(await keda({ scaleDownSeconds: 60 }));
    const path = 'advanced.horizontalPodAutoscalerConfig.behavior.scaleDown.stabilizationWindowSeconds';
    expect(at(spec, path)).toBe(60);
    // It is for a scale to 0, which there is none of.
    expect(at(spec, 'cooldownPeriod')).toBeUndefined();
  });

  it('may ask Prometheus instead', async () => {
    const manifests = await keda({ prometheusAddress: 'http://p:9090' });
    expect(at(scaled(manifests), 'triggers')).toEqual([
      {
        type: 'prometheus',
        metadata: {
          serverAddress: 'http://p:9090',
          query:
            'sum(reroll_queue_ready_jobs{namespace="reroll",pod=~"reroll-(watcher|worker|admin|standalone)-.+",queue=~"changes|reloads"})',
          threshold: '50',
          ignoreNullValues: 'false',
        },
      },
    ]);
    expect(manifests.some(({ kind }) => kind === 'TriggerAuthentication')).toBe(false);
  });
});
