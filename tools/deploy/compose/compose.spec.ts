import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { run } from '../../cluster/src/run.ts';
import { ensureCheckers } from '../ensure-checkers.ts';
import { COMPONENTS, ROOT } from '../images/dockerfile.ts';
import { at, workload } from '../look.ts';
import { manifestsWith } from '../render.ts';

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly { readonly host_ip?: string }[];
  readonly volumes?: readonly {
    readonly type: string;
    readonly source: string;
    readonly target: string;
    readonly read_only?: boolean;
  }[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly networks?: Readonly<Record<string, unknown>>;
  readonly user?: string;
  readonly group_add?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
}

const FILE = join(ROOT, 'docker-compose.yml');
const folder = mkdtempSync(join(tmpdir(), 'reroll-compose-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let compose: string;
let services: Readonly<Record<string, Service>>;
beforeAll(async () => {
  compose = (await ensureCheckers({ log: console.log })).compose;
  const { code, stdout, tail } = await run(compose, [FILE]);
  expect({ code, tail }).toEqual({ code: 0, tail });
  services = (JSON.parse(stdout) as { services: typeof services }).services;
});

it('docker-compose.yml is valid, and has a Redis, a Kubernetes, watchers, workers and an admin', () => {
  expect(Object.keys(services).sort()).toEqual([
    'admin',
    'k3s',
    'password',
    'redis',
    'setup',
    'watcher',
    'worker',
  ]);
});

it.each([
  ['an unknown key', (text: string) => text.replace('    privileged: true\n', '    priviledged: true\n')],
  ['a volume that is not declared', (text: string) => text.replace('\n  kubeconfig-admin:\n', '\n')],
  ['a service that is not there', (text: string) => text.replace('service:k3s', 'service:k4s')],
])('%s in it would be found', async (_, change) => {
  const file = join(folder, 'docker-compose.yml');
  const text = readFileSync(FILE, 'utf8');
  writeFileSync(file, change(text));
  expect(change(text)).not.toBe(text);
  expect((await run(compose, [file])).code).not.toBe(0);
});

it('every image has a version, and the programs are those that the chart runs', async () => {
  const manifests = await manifestsWith();
  for (const { image } of Object.values(services))
    expect(image).toMatch(/^[a-z.]+\/[a-z0-9/-]+:v?\d+\.\d+\.\d+/);
  for (const name of [...COMPONENTS, 'redis'])
    expect(services[name]?.image).toBe(at(workload(manifests, name).container, 'image'));
});

it('watcher, worker and admin run in their role, by an image that can also be built', () => {
  for (const component of COMPONENTS) {
    const { command, build: { context = '', dockerfile = '' } = {} } = services[component] ?? {};
    expect(command).toEqual([component]);
    expect(existsSync(join(context, dockerfile))).toBe(true);
  }
});

it('what waits for a healthy service waits for one that says whether it is', () => {
  for (const { depends_on } of Object.values(services))
    for (const [name, { condition }] of Object.entries(depends_on ?? {}))
      if (condition === 'service_healthy') expect(services[name]?.healthcheck?.test).toBeDefined();
  for (const app of COMPONENTS)
    expect(services[app]?.depends_on).toMatchObject({
      redis: { condition: 'service_healthy' },
      setup: { condition: 'service_completed_successfully' },
    });
});

it('Redis needs nothing but its password, so that it can be started alone', () => {
  expect(Object.keys(services['redis']?.depends_on ?? {})).toEqual(['password']);
  expect(services['redis']?.depends_on).toMatchObject({
    password: { condition: 'service_completed_successfully' },
  });
  expect(services['password']?.depends_on).toBeUndefined();
});

it('all but the Kubernetes have no capabilities, and no files to write but in volumes', () => {
  const { k3s, ...others } = services;
  expect(k3s).toBeDefined();
  for (const [name, { cap_drop, cap_add = [], security_opt, read_only }] of Object.entries(others)) {
    const once = ['password', 'setup'].includes(name);
    expect({ name, cap_drop, security_opt }).toEqual({
      name,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect({ name, cap_add }).toEqual({ name, cap_add: once ? ['DAC_OVERRIDE'] : [] });
    // kubectl keeps what it has learned of the API.
    expect({ name, read_only }).toEqual({ name, read_only: name === 'setup' ? undefined : true });
  }
  expect(services['redis']?.user).toBe('999:1000');
});

it('what the two that make credentials leave behind is for one group, and only those who need it are in it', () => {
  for (const name of ['password', 'setup']) expect(services[name]?.user).toBe('0:2000');
  const members = Object.entries(services).filter(([, { group_add = [] }]) => group_add.includes('2000'));
  expect(members.map(([name]) => name).sort()).toEqual(['admin', 'redis', 'watcher', 'worker']);
});

/** Every file with a credential, by the volume that it is in, and who may read it. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  'redis-password': ['admin', 'redis', 'watcher', 'worker'],
  'redis-config': ['redis'],
  'admin-tokens': ['admin'],
  'admin-token': [],
  'kubeconfig-watcher': ['watcher'],
  'kubeconfig-worker': ['worker'],
  'kubeconfig-admin': ['admin'],
  'k3s-admin': ['setup'],
};
/** Who makes them. */
const MAKERS: Readonly<Record<string, readonly string[]>> = {
  password: ['admin-token', 'admin-tokens', 'redis-config', 'redis-password'],
  setup: ['kubeconfig-admin', 'kubeconfig-watcher', 'kubeconfig-worker'],
  k3s: ['k3s-admin'],
};

it.each(Object.entries(READERS))(
  '%s is read by these, and can be written by none of them',
  (volume, readers) => {
    const mounts = Object.entries(services).flatMap(([name, { volumes = [] }]) =>
      volumes.filter(({ source }) => source === volume).map((mount) => ({ name, ...mount })),
    );
    const [reading, writing] = [true, false].map((isReader) =>
      mounts.filter(({ read_only = false }) => read_only === isReader).map(({ name }) => name),
    );
    expect(reading?.sort()).toEqual(readers);
    expect(writing).toEqual(Object.keys(MAKERS).filter((maker) => MAKERS[maker]?.includes(volume)));
  },
);

it('watcher, worker and admin mount credentials that are named here, and nothing else', () => {
  for (const app of COMPONENTS) {
    const mounted = (services[app]?.volumes ?? []).map(({ source }) => source).sort();
    expect(mounted).toEqual(
      Object.keys(READERS)
        .filter((volume) => READERS[volume]?.includes(app))
        .sort(),
    );
    expect(services[app]?.environment).toMatchObject({ KUBECONFIG: '/kube/kubeconfig.yaml' });
  }
});

it('Redis cannot be reached from the Kubernetes and its pods; watcher, worker and admin reach both', () => {
  const networks = (name: string): string[] => Object.keys(services[name]?.networks ?? {}).sort();
  expect(networks('redis')).toEqual(['redis']);
  expect(networks('k3s')).toEqual(['kubernetes']);
  for (const app of COMPONENTS) expect(networks(app)).toEqual(['kubernetes', 'redis']);
});

describe('the password of Redis, and the token for admin', () => {
  const made = join(folder, 'credentials');
  const FILES = [
    'redis/redis-password',
    'redis-config/redis.conf',
    'people/admin-token',
    'admin/static-tokens.yaml',
  ];
  const make = async (): Promise<void> => {
    const { code, tail } = await run('/bin/sh', [join(ROOT, 'deploy/compose/password.sh'), made]);
    expect({ code, tail }).toEqual({ code: 0, tail: '' });
  };
  const text = (name: string): string => readFileSync(join(made, name), 'utf8');

  beforeAll(async () => {
    mkdirSync(made);
    await make();
  });

  it('are random, the same for Redis and for who connects, and for no other user to read', () => {
    expect(text('redis/redis-password')).toMatch(/^[0-9a-f]{64}\n$/);
    expect(text('redis-config/redis.conf')).toBe(`requirepass ${text('redis/redis-password')}`);
    for (const name of FILES) expect(statSync(join(made, name)).mode & 0o777).toBe(0o440);
  });

  it('stays the same with each `up`, and is another one elsewhere', async () => {
    const before = text('redis/redis-password');
    await make();
    expect(text('redis/redis-password')).toBe(before);
    rmSync(join(made, 'redis/redis-password'));
    await make();
    expect(text('redis/redis-password')).not.toBe(before);
    expect(text('redis-config/redis.conf')).toBe(`requirepass ${text('redis/redis-password')}`);
  });

  it('are two, and admin knows no more than the hash of its own', () => {
    const token = text('people/admin-token').trim();
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(token).not.toBe(text('redis/redis-password').trim());
    expect(parse(text('admin/static-tokens.yaml'))).toEqual([
      {
        name: 'compose',
        sha256: createHash('sha256').update(token).digest('hex'),
        access: 'write',
        namespaces: ['*'],
      },
    ]);
    expect(services['admin']?.environment).toMatchObject({
      REROLL_AUTH: 'static',
      REROLL_STATIC_TOKENS_FILE: '/tokens/static-tokens.yaml',
    });
  });

  it('stay away if there is a list of tokens of yours', async () => {
    const before = text('people/admin-token');
    writeFileSync(join(made, 'admin/static-tokens.yaml'), '[]');
    await make();
    expect([text('admin/static-tokens.yaml'), text('people/admin-token')]).toEqual(['[]', before]);
  });

  it('is the one that Redis, its check, watcher and worker take, and is not in the file', () => {
    const { command = [], healthcheck } = services['redis'] ?? {};
    expect(services['password']?.entrypoint?.slice(1)).toEqual(['/setup/password.sh', '/credentials']);
    expect(command.slice(0, 2)).toEqual(['redis-server', '/config/redis.conf']);
    expect(healthcheck?.test.join(' ')).toContain('/credentials/redis-password');
    for (const app of COMPONENTS) {
      expect(services[app]?.environment).toMatchObject({
        REDIS_URL: 'redis://redis:6379',
        REDIS_PASSWORD_FILE: '/credentials/redis-password',
      });
    }
    expect(readFileSync(FILE, 'utf8')).not.toMatch(/requirepass/);
  });
});

it('no port is open to other machines, and folders that are mounted are there', () => {
  for (const { ports = [], volumes = [] } of Object.values(services)) {
    for (const { host_ip } of ports) expect(host_ip).toBe('127.0.0.1');
    for (const { type, source } of volumes) if (type === 'bind') expect(existsSync(source)).toBe(true);
  }
});
