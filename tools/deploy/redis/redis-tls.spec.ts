import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import 'reflect-metadata';
import { serverCertificate } from '../../../apps/reroll/src/make-secrets/certificate.ts';
import { freePort } from '../../cluster/src/servers/ports.ts';
import { ensureRedis } from '../../cluster/src/build/redis-install.ts';
import { run } from '../../cluster/src/run.ts';
import { at, find, madeSecrets, workload } from '../look.ts';
import { manifestsWith, type ChartValues, type Manifest } from '../render.ts';

const TLS: ChartValues = { redis: { tls: { enabled: true } } };
const COMPONENTS = ['watcher', 'worker', 'admin'] as const;

let manifests: readonly Manifest[];
/** What the Job makes, by the arguments that the chart gives it. */
let certificate: Readonly<Record<'ca.crt' | 'tls.crt' | 'tls.key', string>>;
beforeAll(async () => {
  manifests = await manifestsWith(TLS);
  const [, hosts = ''] =
    /^--certificate=reroll-redis-tls:(.+)$/mu.exec(madeSecrets(manifests).join('\n')) ?? [];
  certificate = await serverCertificate(hosts.split(','));
});

const passwordOf = (component: string): string => `password of ${component}`;

describe('the Redis of the chart with TLS, as its container starts it', () => {
  let folder: string;
  let port: number;
  let program: string;
  let server: ChildProcess;

  beforeAll(async () => {
    const source = await ensureRedis({ log: console.log });
    if (source.kind === 'image') throw new Error('expected a redis-server on this machine');
    program = source.path;
    folder = mkdtempSync(join(tmpdir(), 'reroll-redis-tls-'));
    port = await freePort();
    for (const [key, text] of Object.entries(certificate)) write(key, text);
    for (const component of COMPONENTS) write(component, passwordOf(component));
    const { 'redis.conf': conf = '' } = at(find(manifests, 'ConfigMap', 'reroll-redis'), 'data') as Record<
      string,
      string
    >;
    write('redis.conf', onThisMachine(conf));
    const [shell = '', ...args] = commandAt('command');
    server = spawn(shell, args, { env: environment(), stdio: 'ignore' });
    await vi.waitUntil(() => probe('startupProbe'), { timeout: 30_000, interval: 100 });
  });
  afterAll(async () => {
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });

  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const onThisMachine = (text: string): string =>
    text
      .replaceAll('/etc/reroll/redis-tls/', `${folder}/`)
      .replaceAll('/etc/reroll/redis/', `${folder}/`)
      .replaceAll('/etc/redis/', `${folder}/`)
      .replace('dir /data', `dir ${folder}\nbind 127.0.0.1`)
      .replace('tls-port 6379', `tls-port ${port}`)
      .replaceAll('redis-cli', `redis-cli -p ${port}`);
  const commandAt = (path: string): string[] =>
    (at(workload(manifests, 'redis').container, path) as readonly string[]).map(onThisMachine);
  const environment = (): NodeJS.ProcessEnv => ({ PATH: `${dirname(program)}:${process.env['PATH'] ?? ''}` });
  const probe = async (which: string): Promise<boolean> => {
    const [shell = '', ...args] = commandAt(`${which}.exec.command`);
    return (await run(shell, args)).code === 0;
  };
  const handshake = async (options: ConnectionOptions): Promise<string> => {
    const socket = connect({ port, host: '127.0.0.1', ...options });
    const refused = once(socket, 'error').then(([error]) => (error as NodeJS.ErrnoException).code ?? '');
    const accepted = once(socket, 'secureConnect').then(() => 'accepted');
    try {
      return await Promise.race([refused, accepted.catch(() => refused)]);
    } finally {
      socket.destroy();
    }
  };

  it.each(COMPONENTS)('lets %s in, by its user and the authority that it is given', async (component) => {
    const client = new Redis({
      port,
      host: '127.0.0.1',
      username: `reroll-${component}`,
      password: passwordOf(component),
      tls: { ca: certificate['ca.crt'], servername: 'reroll-redis' },
    });
    try {
      expect(await client.ping()).toBe('PONG');
    } finally {
      client.disconnect();
    }
  });

  it('shows a certificate for the names of its Service, by that authority alone', async () => {
    const ca = certificate['ca.crt'];
    expect(await handshake({ ca, servername: 'reroll-redis' })).toBe('accepted');
    expect(await handshake({ ca, servername: 'reroll-redis.reroll.svc' })).toBe('accepted');
    expect(await handshake({ ca, servername: 'reroll-redis.other.svc' })).toBe(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    );
    expect(await handshake({ servername: 'reroll-redis' })).toMatch(/SELF_SIGNED|UNABLE_TO/u);
  });

  it('answers nobody without TLS', async () => {
    const { stdout } = await run('redis-cli', ['-p', String(port), 'ping']);
    expect(stdout).not.toMatch(/PONG|NOAUTH/u);
  });

  it('is found ready by the probe of the chart', async () => {
    expect(await probe('readinessProbe')).toBe(true);
  });
});

describe('TLS of the Redis of the chart', () => {
  it('is told to each component, which mounts the authority and no key', () => {
    for (const component of COMPONENTS) {
      const { args, pod } = workload(manifests, component);
      expect(args).toEqual(
        expect.arrayContaining(['--redis-tls=true', '--redis-tls-ca-file=/etc/reroll/redis/ca.crt']),
      );
      expect(at(pod, 'volumes.0.projected.sources.1.secret')).toEqual({
        name: 'reroll-redis-tls',
        items: [{ key: 'ca.crt', path: 'ca.crt' }],
      });
      expect(JSON.stringify(pod)).not.toContain('tls.key');
    }
  });

  it('takes a certificate of yours', async () => {
    const mine = await manifestsWith({ redis: { tls: { enabled: true, existingSecret: 'mine' } } });
    expect(madeSecrets(mine).join(' ')).not.toContain('--certificate');
    const { pod } = workload(mine, 'redis');
    expect(at(pod, 'volumes')).toContainEqual({
      name: 'certificate',
      secret: { secretName: 'mine', defaultMode: 0o440 },
    });
    expect(at(workload(mine, 'worker').pod, 'volumes.0.projected.sources.1.secret.name')).toBe('mine');
  });

  it('is told to KEDA', async () => {
    const keda = { worker: { keda: { enabled: true } }, reloader: { clusterName: 'a' } };
    const scaled = await manifestsWith({ ...TLS, ...keda });
    expect(at(find(scaled, 'ScaledObject', 'reroll-worker'), 'spec.triggers.0.metadata.enableTLS')).toBe(
      'true',
    );
    expect(at(find(scaled, 'TriggerAuthentication', 'reroll-worker'), 'spec.secretTargetRef')).toContainEqual(
      {
        parameter: 'ca',
        name: 'reroll-redis-tls',
        key: 'ca.crt',
      },
    );
  });

  it('is off by default', async () => {
    const plain = await manifestsWith();
    expect(JSON.stringify(plain)).not.toContain('redis-tls');
    expect(JSON.stringify(find(plain, 'ConfigMap', 'reroll-redis'))).not.toContain('tls');
  });
});
