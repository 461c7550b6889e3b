import { describe, expect, it } from 'vitest';
import { at, find, madeSecrets, titleOf } from './look.ts';
import { manifestsWith, renderChart, type ChartValues, type Manifest } from './render.ts';
import { rulesOf } from './testing/facts.ts';

const KEDA = { worker: { keda: { enabled: true } }, reloader: { clusterName: 'a' } };
const TLS = { redis: { tls: { enabled: true } } };
const LABELS = { reloader: { deployment: { labels: { team: 'a' } } } };
const MINE = {
  redis: { auth: { existingSecret: 'a' }, tls: { enabled: true, existingSecret: 'b' } },
  reloader: { hashKey: { existingSecret: 'c' } },
};
const USERS = 'watcher-password,worker-password,admin-password';
const KEYS = '--random=reroll-hash-keys:keys';

describe('a Job makes', () => {
  it.each<[string, ChartValues, readonly string[]]>([
    ['passwords and the key of the hashes', {}, [`--random=reroll-redis:${USERS}`, KEYS]],
    ['a password of KEDA too', KEDA, [`--random=reroll-redis:${USERS},keda-password`, KEYS]],
    ['no passwords for a Redis of yours', { redis: { enabled: false, external: { host: 'r' } } }, [KEYS]],
    ['no passwords in one process', { mode: 'standalone' }, [KEYS]],
    [
      'a certificate of Redis',
      TLS,
      [
        `--random=reroll-redis:${USERS}`,
        KEYS,
        '--certificate=reroll-redis-tls:reroll-redis,reroll-redis.reroll,reroll-redis.reroll.svc,reroll-redis.reroll.svc.cluster.local,localhost,127.0.0.1',
      ],
    ],
    ['nothing if all are yours', MINE, []],
  ])('%s', async (_what, values, args) => {
    expect(madeSecrets(await manifestsWith(values))).toEqual(args);
  });
});

it('nothing of it is left if all Secrets are yours', async () => {
  expect(JSON.stringify(await manifestsWith(MINE))).not.toContain('make-secrets');
});

it('the Job may read and patch these Secrets, make Secrets, and nothing else', async () => {
  const role = find(await manifestsWith(TLS), 'Role', 'reroll-make-secrets');
  expect(rulesOf(at(role, 'rules') as Parameters<typeof rulesOf>[0])).toEqual([
    'may create secrets',
    'may get,patch secrets[reroll-redis,reroll-hash-keys,reroll-redis-tls]',
  ]);
});

it('no other pod has its ServiceAccount', async () => {
  const owners = (await manifestsWith())
    .filter((object) => at(object, 'spec.template.spec.serviceAccountName') === 'reroll-make-secrets')
    .map(({ kind, metadata }) => titleOf(kind, metadata.name));
  expect(owners).toEqual(['Job reroll-make-secrets']);
});

describe('the pod of the Job', () => {
  const podOf = async (values: ChartValues): Promise<unknown> =>
    at(
      (await manifestsWith(values)).find(({ kind }) => kind === 'Job'),
      'spec.template',
    );

  it('has no sidecar of a mesh, whatever the other pods have: the Job might never end', async () => {
    const labels = { 'sidecar.istio.io/inject': 'true' };
    expect(await podOf({ reloader: { deployment: { labels } } })).toMatchObject({
      metadata: {
        labels: { 'sidecar.istio.io/inject': 'false' },
        annotations: { 'linkerd.io/inject': 'disabled' },
      },
    });
  });

  it('has labels and annotations of yours', async () => {
    const makeSecrets = {
      podLabels: { mesh: 'none', 'app.kubernetes.io/component': 'worker' },
      podAnnotations: { a: 'b' },
    };
    expect(await podOf({ makeSecrets })).toMatchObject({
      metadata: {
        labels: { mesh: 'none', 'app.kubernetes.io/component': 'make-secrets' },
        annotations: { a: 'b' },
      },
    });
  });
});

it.each([
  [{ name: 'mine' }, ['mine']],
  [{ create: false, name: 'mine' }, []],
])('the Job has a ServiceAccount of yours: %j', async (serviceAccount, made) => {
  const manifests = await manifestsWith({ makeSecrets: { serviceAccount } });
  const job = manifests.find(({ kind }) => kind === 'Job');
  expect(at(job, 'spec.template.spec.serviceAccountName')).toBe('mine');
  expect(at(find(manifests, 'RoleBinding', 'reroll-make-secrets'), 'subjects.0.name')).toBe('mine');
  const accounts = manifests.flatMap(({ kind, metadata }) =>
    kind === 'ServiceAccount' ? [metadata.name] : [],
  );
  expect(accounts.filter((name) => ['mine', 'reroll-make-secrets'].includes(name))).toEqual(made);
});

it('another image, label or Secret is another Job, because the template of one cannot be changed', async () => {
  const nameOf = async (values: ChartValues): Promise<string> =>
    (await manifestsWith(values)).find(({ kind }) => kind === 'Job')?.metadata.name ?? '';
  const names = await Promise.all([{}, { image: { tag: '9.9.9' } }, LABELS, TLS].map(nameOf));
  for (const name of names) expect(name).toMatch(/^reroll-make-secrets-[0-9a-f]{8}$/u);
  expect(new Set(names).size).toBe(4);
});

it.each<[string, ChartValues]>([
  ['the default', {}],
  ['one process', { mode: 'standalone' }],
  ['TLS and KEDA', { ...KEDA, ...TLS }],
])('%s renders the same bytes each time, and no Secret with a random value', async (_what, values) => {
  const [first, second] = await Promise.all([1, 2].map((again) => renderChart(values, { again })));
  if (first?.ok !== true || second?.ok !== true) throw new Error('expected that the chart renders');
  expect(second.text).toBe(first.text);
  const secrets = first.manifests.filter(({ kind }: Manifest) => kind === 'Secret');
  expect(secrets).toEqual([]);
});
