import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { at, find, installed, workload } from './look.ts';
import { externalRedis, manifestsWith, refusalOf, type ChartValues, type Manifest } from './render.ts';
import { merged } from './testing/merged.ts';

const STANDALONE: ChartValues = { mode: 'standalone' };

const GUIDE = join(import.meta.dirname, '../../docs/guide/install.md');

/** The values of every `--set` in a text. */
function setBy(text: string): readonly ChartValues[] {
  return [...text.matchAll(/--set (\S+?)=(\w+)/gu)].map(([, path = '', value]) =>
    path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), typed(value)),
  ) as readonly ChartValues[];
}

function typed(text = ''): unknown {
  return ['true', 'false', 'null'].includes(text) ? JSON.parse(text) : text;
}

/** What no upgrade can change. */
const FIXED = [
  'roleRef',
  'spec.selector.matchLabels',
  'spec.volumeClaimTemplates',
  'spec.serviceName',
  'type',
];

describe('between the modes', () => {
  it('what cannot be changed stays, so that one is an upgrade of the other', async () => {
    const after = installed(await manifestsWith(STANDALONE));
    const pairs = installed(await manifestsWith()).flatMap((before) => {
      const now = after.find(
        ({ kind, metadata }) => kind === before.kind && metadata.name === before.metadata.name,
      );
      return now === undefined ? [] : [{ before, now }];
    });
    expect(pairs.length).toBeGreaterThan(10);
    for (const { before, now } of pairs) {
      for (const path of FIXED) expect(at(now, path)).toEqual(at(before, path));
    }
  });

  it('the Lease, the keys of the hashes and the account that may release the Lease are the same', async () => {
    const options = { release: 'prod' };
    const [before, now] = [await manifestsWith({}, options), await manifestsWith(STANDALONE, options)];
    const watcher = workload(before, 'watcher', 'prod-reroll');
    const standalone = workload(now, 'standalone', 'prod-reroll');
    const same = (look: (of: typeof watcher) => unknown): void =>
      expect(look(standalone)).toEqual(look(watcher));
    for (const { args } of [watcher, standalone]) expect(args).toContain('--lease-name=prod-reroll-watcher');
    same(({ pod }) => at(pod, 'serviceAccountName'));
    same(({ pod }) =>
      (at(pod, 'volumes') as readonly { name: string }[]).find(({ name }) => name === 'hash-keys'),
    );
    const lease = (manifests: readonly Manifest[]): Manifest =>
      find(manifests, 'Lease', 'prod-reroll-watcher');
    expect(lease(now)).toEqual(lease(before));
  });
});

/** Values of a distributed install, which an upgrade with `--reset-then-reuse-values` keeps. */
const STORED: Readonly<Record<string, ChartValues>> = {
  'a volume': { persistence: { enabled: true, storageClass: 'fast' } },
  memory: { maxMemory: '1gb', resources: { limits: { memory: '2Gi' } } },
  TLS: { tls: { enabled: true, existingSecret: 's' } },
  passwords: {
    auth: { existingSecret: 's', existingSecretKeys: { watcher: 'a', worker: 'b', admin: 'c' } },
  },
};

describe('an upgrade to the standalone mode', () => {
  it.each(Object.entries({ ...STORED, 'all of it': Object.values(STORED).reduce(merged) }))(
    'is refused for a distributed Redis with %s, with what takes it out',
    async (_what, redis) => {
      const stored = { ...STANDALONE, redis };
      const said = await refusalOf(stored);
      expect(said).toContain('is for a Redis with a pod of its own');
      expect((await manifestsWith(setBy(said).reduce(merged, stored))).length).toBeGreaterThan(10);
    },
  );

  it('works for a Redis with a volume as the guide says', async () => {
    const commands = readFileSync(GUIDE, 'utf8').match(/^helm upgrade .*mode=standalone.*$/gmu) ?? [];
    const stored = { redis: { persistence: { enabled: true } } };
    const said = await Promise.all(
      commands.map((command) => refusalOf(setBy(command).reduce(merged, stored))),
    );
    expect(said).toContain('nothing: it was rendered');
  });
});

describe('a standalone pod', () => {
  it('is a Deployment of one, with all roles, which keeps its Redis in memory and in a folder of its own', async () => {
    const { object, container, pod, args, env } = workload(await manifestsWith(STANDALONE), 'standalone');
    expect(at(object, 'spec.replicas')).toBe(1);
    expect(at(pod, 'containers')).toHaveLength(1);
    expect(args[0]).toBe('all');
    expect(args.filter((each) => /^--redis-(?!max-memory)/u.test(each))).toEqual([]);
    expect(args).toContain('--redis-max-memory=192mb');
    expect(env).toContain('TMPDIR=/run/reroll');
    expect(env).toContain('RELOADER_DEPLOYMENT_NAME=reroll-standalone');
    expect(at(pod, 'volumes')).toContainEqual({ name: 'own-redis', emptyDir: {} });
    expect(at(container, 'volumeMounts')).toContainEqual({ name: 'own-redis', mountPath: '/run/reroll' });
    expect(at(container, 'resources')).toEqual({
      requests: { cpu: '100m', memory: '128Mi' },
      limits: { memory: '512Mi' },
    });
  });

  it('takes its number, arguments, variables and time to end from its own values', async () => {
    const extraEnv = [{ name: 'F', value: 'g' }];
    const own = { replicas: 2, extraArgs: ['--debounce=1s'], extraEnv, terminationGracePeriodSeconds: 91 };
    const values = { ...STANDALONE, standalone: own };
    const { object, pod, args, env } = workload(await manifestsWith(values), 'standalone');
    expect(at(object, 'spec.replicas')).toBe(2);
    expect(args.at(-1)).toBe('--debounce=1s');
    expect(env).toContain('F=g');
    expect(at(pod, 'terminationGracePeriodSeconds')).toBe(91);
    const incumbent = merged(values, { reloader: { deployment: { replicas: 3 } } });
    expect(at(workload(await manifestsWith(incumbent), 'standalone').object, 'spec.replicas')).toBe(3);
  });

  it('is where the Service of the API leads, and tells others where it is', async () => {
    const manifests = await manifestsWith(STANDALONE);
    const { object, container, env } = workload(manifests, 'standalone');
    const service = find(manifests, 'Service', 'reroll-admin');
    expect(at(service, 'spec.selector')).toEqual(at(object, 'spec.selector.matchLabels'));
    expect(at(container, 'ports')).toContainEqual({ name: 'api', containerPort: 8080 });
    expect(env).toContain('POD_IP<-fieldRef:status.podIP');
  });

  it('uses a Redis of yours, which all share: none of its own, and no leader to hand callers on to', async () => {
    const values = merged(STANDALONE, externalRedis({ host: 'r', password: 'p' }));
    const { pod, args, env } = workload(await manifestsWith(values), 'standalone');
    expect(args).toContain('--redis-host=r');
    expect(args.filter((each) => each.startsWith('--redis-max-memory'))).toEqual([]);
    expect(env).toContain('REDIS_PASSWORD<-secretKeyRef:reroll/REDIS_PASSWORD');
    expect(env.filter((each) => /^(TMPDIR|POD_IP)\b/u.test(each))).toEqual([]);
    expect(JSON.stringify(at(pod, 'volumes'))).not.toContain('own-redis');
  });

  it.each<[string, ChartValues]>([
    ['without admin', { admin: { enabled: false } }],
    ['in a scoped install, which may not ask whose a token is', { reloader: { watchGlobally: false } }],
  ])('%s: serves the API to nobody else', async (_what, values) => {
    const manifests = await manifestsWith(merged(STANDALONE, values));
    const { container, args } = workload(manifests, 'standalone');
    expect(args).toContain('--api-addr=127.0.0.1:8080');
    expect(at(container, 'ports')).toEqual([{ name: 'http', containerPort: 9090 }]);
    expect(manifests.filter(({ kind }) => kind === 'Service')).toEqual([]);
  });

  it('is scraped once, whatever the Service of the API is', async () => {
    const manifests = await manifestsWith(
      merged(STANDALONE, { reloader: { serviceMonitor: { enabled: true } } }),
    );
    const ports = (object: Manifest): readonly { name: string }[] =>
      (at(object, 'spec.ports') ?? []) as readonly { name: string }[];
    const scraped = manifests.filter(
      (each) => each.kind === 'Service' && ports(each).some(({ name }) => name === 'http'),
    );
    expect(scraped.map(({ metadata }) => metadata.name)).toEqual(['reroll-standalone']);
  });
});
