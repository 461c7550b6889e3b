import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERSION } from '@reroll/shared/platform/process/version';
import { documentedRules } from '@reroll/redis/testing/redis-users';
import { at, find, workload } from '../look.ts';
import { externalRedis, manifestsWith, type ChartValues } from '../render.ts';
import { CHART } from '../values/values-comments.ts';

const COMPONENTS = ['watcher', 'worker', 'admin'] as const;

describe('the Redis of the chart', () => {
  it('keeps an append-only file on a volume, if there is one, and drops nothing', async () => {
    const manifests = await manifestsWith({ redis: { persistence: { enabled: true } } });
    const { object, container, pod } = workload(manifests, 'redis');
    const text = at(find(manifests, 'ConfigMap', 'reroll-redis'), 'data') as Record<string, string>;
    expect(text['redis.conf']?.split('\n')).toEqual(
      expect.arrayContaining([
        'appendonly yes',
        'maxmemory-policy noeviction',
        'hz 100',
        'maxmemory 320mb',
        'dir /data',
      ]),
    );
    expect(at(container, 'volumeMounts')).toContainEqual({ name: 'data', mountPath: '/data' });
    expect(at(object, 'spec.volumeClaimTemplates.0.spec.resources.requests.storage')).toBe('1Gi');
    expect(at(object, 'spec.persistentVolumeClaimRetentionPolicy.whenDeleted')).toBe('Delete');
    expect(at(pod, 'serviceAccountName')).toBe('reroll-redis');
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      expect(at(container, probe)).toBeDefined();
  });

  it('has a user for each component, with a password that only that component mounts', async () => {
    const manifests = await manifestsWith();
    for (const component of COMPONENTS) {
      const { args, pod } = workload(manifests, component);
      expect(args).toContain(`--redis-username=reroll-${component}`);
      expect(at(pod, 'volumes.0.projected.sources')).toEqual([
        {
          secret: { name: 'reroll-redis', items: [{ key: `${component}-password`, path: 'password' }] },
        },
      ]);
    }
  });

  it('has a user of KEDA too, which looks into it', async () => {
    const keda: ChartValues = { worker: { keda: { enabled: true } }, reloader: { clusterName: 'a' } };
    const manifests = await manifestsWith(keda);
    expect(at(find(manifests, 'ScaledObject', 'reroll-worker'), 'spec.triggers.0.metadata.username')).toBe(
      'reroll-keda',
    );
    expect(JSON.stringify(workload(manifests, 'redis').object)).toContain('user reroll-keda on #$keda ');
  });

  it.each(['reroll-watcher', 'reroll-worker', 'reroll-admin', 'reroll-keda'])(
    'gives %s the rights of the guide',
    (user) => {
      const lines = readFileSync(join(CHART, 'files/redis-users.acl'), 'utf8').split('\n');
      expect(lines).toContain([user, ...documentedRules(user)].join(' '));
    },
  );

  it('takes the users from a Secret of yours', async () => {
    const existingSecretKeys = { watcher: 'a', worker: 'b', admin: 'c' };
    const mine = await manifestsWith({ redis: { auth: { existingSecret: 'mine', existingSecretKeys } } });
    expect(at(workload(mine, 'redis').pod, 'volumes.1.secret')).toMatchObject({
      secretName: 'mine',
      items: [
        { key: 'a', path: 'watcher' },
        { key: 'b', path: 'worker' },
        { key: 'c', path: 'admin' },
      ],
    });
    expect(workload(mine, 'worker').args).toContain('--redis-username=reroll-worker');
    expect(at(workload(mine, 'worker').pod, 'volumes.0.projected.sources')).toEqual([
      { secret: { name: 'mine', items: [{ key: 'b', path: 'password' }] } },
    ]);
  });

  it('has one password and no user if that is what a Secret of yours has', async () => {
    const mine = await manifestsWith({ redis: { auth: { existingSecret: 'mine', existingSecretKey: 'k' } } });
    expect(mine.some(({ kind, metadata }) => kind === 'Secret' && metadata.name === 'reroll-redis')).toBe(
      false,
    );
    expect(at(workload(mine, 'redis').pod, 'volumes.1.secret')).toMatchObject({
      secretName: 'mine',
      defaultMode: 0o440,
      items: [{ key: 'k', path: 'password' }],
    });
    const { args, pod } = workload(mine, 'worker');
    expect(args.filter((each) => each.startsWith('--redis-username'))).toEqual([]);
    expect(at(pod, 'volumes.0.projected.sources')).toEqual([
      { secret: { name: 'mine', items: [{ key: 'k', path: 'password' }] } },
    ]);
    expect(JSON.stringify(workload(mine, 'redis').container)).not.toContain('reroll-watcher');
  });

  it('may do without a volume, keep it for ever, and have a class, a size and lines of its own', async () => {
    // Without a cluster to ask, the default is what runs anywhere.
    for (const enabled of [false, 'auto']) {
      const without = workload(await manifestsWith({ redis: { persistence: { enabled } } }), 'redis');
      expect(at(without.object, 'spec.volumeClaimTemplates')).toBeUndefined();
      expect(at(without.pod, 'volumes')).toContainEqual({ name: 'data', emptyDir: {} });
    }
    const persistence = {
      enabled: true,
      whenDeleted: 'Retain',
      storageClass: 'fast',
      size: '8Gi',
      accessModes: ['ReadWriteOncePod'],
    };
    const manifests = await manifestsWith({ redis: { persistence, config: 'save ""\nhz 5' } });
    const { object } = workload(manifests, 'redis');
    expect(at(object, 'spec.persistentVolumeClaimRetentionPolicy.whenDeleted')).toBe('Retain');
    expect(at(object, 'spec.volumeClaimTemplates.0.spec')).toEqual({
      accessModes: ['ReadWriteOncePod'],
      storageClassName: 'fast',
      resources: { requests: { storage: '8Gi' } },
    });
    const text = at(find(manifests, 'ConfigMap', 'reroll-redis'), 'data') as Record<string, string>;
    expect(text['redis.conf']).toMatch(/\nsave ""\nhz 5\n?$/u);
  });

  it('has the priority and runtime class of the other pods, or its own', async () => {
    const classes = async (redis: ChartValues): Promise<unknown> => {
      const deployment = { priorityClassName: 'p', runtimeClassName: 'r' };
      return workload(await manifestsWith({ reloader: { deployment }, redis }), 'redis').pod;
    };
    expect(await classes({})).toMatchObject({ priorityClassName: 'p', runtimeClassName: 'r' });
    const own = { priorityClassName: 'own', runtimeClassName: 'runtime' };
    expect(await classes(own)).toMatchObject(own);
  });

  it('has labels of yours, which change nothing that selects it', async () => {
    const podLabels = { mesh: 'ambient', 'app.kubernetes.io/component': 'worker' };
    const { object } = workload(await manifestsWith({ redis: { podLabels } }), 'redis');
    const labels = at(object, 'spec.template.metadata.labels');
    expect(labels).toMatchObject({ mesh: 'ambient', 'app.kubernetes.io/component': 'redis' });
    expect(labels).toMatchObject(at(object, 'spec.selector.matchLabels') as object);
  });

  it.each([
    [{ name: 'mine' }, ['mine']],
    [{ create: false, name: 'mine' }, []],
  ])('has a ServiceAccount of yours: %j', async (serviceAccount, made) => {
    const manifests = await manifestsWith({ redis: { serviceAccount } });
    expect(at(workload(manifests, 'redis').pod, 'serviceAccountName')).toBe('mine');
    const accounts = manifests.flatMap(({ kind, metadata }) =>
      kind === 'ServiceAccount' ? [metadata.name] : [],
    );
    expect(accounts.filter((name) => ['mine', 'reroll-redis'].includes(name))).toEqual(made);
  });

  it('does not restart for a version of the chart: its pods name none', async () => {
    const template = at(workload(await manifestsWith(), 'redis').object, 'spec.template');
    expect(JSON.stringify(template)).not.toContain(VERSION);
  });
});

/** How it is given, the values, and what both processes are told: arguments and variables of Redis. */
const EXTERNAL: readonly (readonly [string, ChartValues, readonly string[]])[] = [
  ['a URL', externalRedis({ url: 'redis://r' }), ['REDIS_URL<-secretKeyRef:reroll/REDIS_URL']],
  [
    'a URL in a Secret',
    externalRedis({ existingSecret: 's', existingSecretKeys: { url: 'k' } }),
    ['REDIS_URL<-secretKeyRef:s/k'],
  ],
  [
    'parts',
    externalRedis({ host: 'r', port: 1, database: 2, username: 'u', password: 'p' }),
    [
      '--redis-host=r',
      '--redis-port=1',
      '--redis-db=2',
      '--redis-username=u',
      'REDIS_PASSWORD<-secretKeyRef:reroll/REDIS_PASSWORD',
    ],
  ],
  [
    'user and password in a Secret',
    externalRedis({ host: 'r', existingSecret: 's', existingSecretKeys: { username: 'u', password: 'p' } }),
    [
      '--redis-host=r',
      '--redis-password-file=/etc/reroll/redis/password',
      'REDIS_USERNAME<-secretKeyRef:s/u',
    ],
  ],
  [
    'TLS with a CA and a client certificate',
    externalRedis({ host: 'r', tls: { enabled: true, caSecret: 'ca', certSecret: 'c', serverName: 'n' } }),
    [
      '--redis-host=r',
      '--redis-tls=true',
      '--redis-tls-server-name=n',
      '--redis-tls-ca-file=/etc/reroll/redis/ca.crt',
      '--redis-tls-cert-file=/etc/reroll/redis/tls.crt',
      '--redis-tls-key-file=/etc/reroll/redis/tls.key',
    ],
  ],
  [
    'Sentinels',
    externalRedis({ sentinel: { hosts: ['a', 'b:1'], master: 'm', username: 'u', password: 'p' } }),
    [
      '--redis-sentinels=a,b:1',
      '--redis-sentinel-master=m',
      '--redis-sentinel-username=u',
      'REDIS_SENTINEL_PASSWORD<-secretKeyRef:reroll/REDIS_SENTINEL_PASSWORD',
    ],
  ],
  ['a Cluster', externalRedis({ cluster: ['a', 'b:1'] }), ['--redis-cluster=a,b:1']],
];

describe('a Redis of yours', () => {
  it.each(EXTERNAL)('by %s', async (_how, values, expected) => {
    const manifests = await manifestsWith(values);
    expect(manifests.filter(({ metadata }) => metadata.name === 'reroll-redis')).toEqual([]);
    for (const component of ['watcher', 'worker']) {
      const { args, env } = workload(manifests, component);
      expect([...args, ...env].filter((each) => /redis/iu.test(each)).sort()).toEqual([...expected].sort());
    }
  });
});

it('a Redis of yours can have a user for each component, each with a Secret of its own', async () => {
  const user = (component: string): ChartValues => ({
    username: `user-of-${component}`,
    existingSecret: `secret-of-${component}`,
  });
  const users = { watcher: user('watcher'), worker: user('worker'), admin: user('admin') };
  const manifests = await manifestsWith(externalRedis({ host: 'r', users }));
  for (const component of COMPONENTS) {
    const { args, pod } = workload(manifests, component);
    expect(args.filter((each) => each.startsWith('--redis-'))).toEqual([
      '--redis-host=r',
      `--redis-username=user-of-${component}`,
      '--redis-password-file=/etc/reroll/redis/password',
    ]);
    expect(at(pod, 'volumes.0.projected.sources')).toEqual([
      { secret: { name: `secret-of-${component}`, items: [{ key: 'password', path: 'password' }] } },
    ]);
  }
});

it('the image is one that its license lets everybody use (docs/adr/0017)', async () => {
  const { container } = workload(await manifestsWith(), 'redis');
  const image = String(at(container, 'image'));
  const decision = readFileSync(new URL('../../../docs/adr/0017-default-store.md', import.meta.url), 'utf8');
  expect(decision).toContain(`\`${image}\``);
});
