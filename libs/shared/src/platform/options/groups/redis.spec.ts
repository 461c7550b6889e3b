import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseOptions } from '../parsing/parse.ts';
import { redisFileProblems } from './redis-files.ts';
import type { WorkerOptions } from '../parsing/table.ts';

function optionsOf(argv: readonly string[], env: Readonly<Record<string, string>> = {}): WorkerOptions {
  const parsed = parseOptions('worker', argv, env);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return parsed.options;
}

function errorsOf(argv: readonly string[], env: Readonly<Record<string, string>> = {}): readonly string[] {
  const parsed = parseOptions('worker', argv, env);
  return parsed.ok ? [] : parsed.errors;
}

const SENTINELS = '--redis-sentinels=a,b';
const MASTER = '--redis-sentinel-master=main';
const HOST = '--redis-host=redis';
const TLS = '--redis-tls';

describe('a standalone process', () => {
  const errors = (argv: readonly string[]): readonly string[] => {
    const parsed = parseOptions('standalone', argv, {});
    return parsed.ok ? [] : parsed.errors;
  };

  it('needs no Redis, and has the options of every app and one more', () => {
    expect(errors(['--debounce=0', '--api-addr=:0', '--lease-name=l', '--redis-max-memory=1gb'])).toEqual([]);
  });

  it.each([
    ['--redis-password=p', '--redis-password'],
    ['--redis-tls', '--redis-tls'],
    ['--redis-db=3', '--redis-db'],
  ])('without a place of Redis is not given %s', (flag, name) => {
    const places = '--redis-url, --redis-host, --redis-sentinels, --redis-cluster';
    expect(errors([flag])).toEqual([
      `--redis-url: expected one of ${places}, because of ${name}; given none`,
    ]);
    expect(errors([flag, '--redis-host=redis'])).toEqual([]);
  });

  it('is told how much memory its Redis may take', () => {
    const expects = 'a number of megabytes or gigabytes, such as 320mb or 1gb';
    expect(errors(['--redis-max-memory=0'])).toEqual([`--redis-max-memory: expected ${expects}; given "0"`]);
    const others = parseOptions('worker', ['--redis-max-memory=1gb'], {});
    expect(others.ok ? [] : others.errors).toEqual([
      '--redis-max-memory: expected a flag of the worker; given one of the standalone only',
    ]);
  });
});

describe('where Redis is', () => {
  it('can be given in parts', () => {
    const env = {
      REDIS_HOST: 'redis',
      REDIS_PORT: '6380',
      REDIS_USERNAME: 'u',
      REDIS_PASSWORD: 'p',
      REDIS_DB: '3',
    };
    const { redisUrl, redisHost, redisPort, redisUsername, redisPassword, redisDb } = optionsOf([], env);
    expect({ redisUrl, redisHost, redisPort, redisUsername, redisPassword, redisDb }).toEqual({
      redisUrl: undefined,
      redisHost: 'redis',
      redisPort: 6380,
      redisUsername: 'u',
      redisPassword: 'p',
      redisDb: 3,
    });
  });

  it('is no port that Kubernetes writes for a Service named redis', () => {
    expect(optionsOf([HOST], { REDIS_PORT: 'tcp://10.96.0.7:6379' }).redisPort).toBeUndefined();
    expect(optionsOf([], { REDIS_PORT: 'tcp://10.96.0.7:6379', REDIS_URL: 'redis://r' }).redisUrl).toBe(
      'redis://r',
    );
  });

  it.each([
    ['a,b.svc:1,[::1],[fe80::1]:2', ['a', 26379], ['b.svc', 1], ['::1', 26379], ['fe80::1', 2]],
    ['10.0.0.1:26380', ['10.0.0.1', 26380]],
  ] as const)('can be Sentinels %s', (text, ...expected) => {
    const { redisSentinels } = optionsOf([`--redis-sentinels=${text}`, MASTER]);
    expect(redisSentinels).toEqual(expected.map(([host, port]) => ({ host, port })));
  });

  it('can be the nodes of a Cluster', () => {
    expect(optionsOf(['--redis-cluster=a:7000,b']).redisCluster).toEqual([
      { host: 'a', port: 7000 },
      { host: 'b', port: 6379 },
    ]);
  });
});

const CREDENTIALS_TWICE = '--redis-url: expected credentials in it or beside it; given both';
const WRONG: Readonly<Record<string, readonly [argv: readonly string[], complaint: string]>> = {
  'a URL and a host': [
    ['--redis-url=redis://a', HOST],
    '--redis-url: expected one of --redis-url, --redis-host, --redis-sentinels, --redis-cluster; given --redis-url, --redis-host',
  ],
  'Sentinels and a Cluster': [
    [SENTINELS, MASTER, '--redis-cluster=a'],
    'given --redis-sentinels, --redis-cluster',
  ],
  'a port alone': [
    ['--redis-port=1'],
    '--redis-port: expected a --redis-host beside it; given 1 without one',
  ],
  'a port that is none': [
    [HOST, '--redis-port=0'],
    '--redis-port: expected a whole number from 1 to 65535; given "0"',
  ],
  'a host with a port': [
    ['--redis-host=a:1'],
    '--redis-host: expected a host name or an IP address, without a port',
  ],
  'a password in the URL and beside it': [
    ['--redis-url=redis://:a@b', '--redis-password-file=/c'],
    `${CREDENTIALS_TWICE} (--redis-password-file)`,
  ],
  'a password in the URL that is not encoded': [
    ['--redis-url=redis://:50%@b'],
    '--redis-url: expected a URL such as',
  ],
  'a password and its file': [
    [HOST, '--redis-password=a', '--redis-password-file=/b'],
    '--redis-password-file: expected it or --redis-password; given both',
  ],
  'a user without a password': [
    [HOST, '--redis-username=a'],
    '--redis-username: expected a --redis-password or --redis-password-file beside it; given none',
  ],
  'a database twice': [['--redis-url=redis://a/1', '--redis-db=2'], 'given both (2 here)'],
  'a database that is none': [[HOST, '--redis-db=-1'], '--redis-db: expected a whole number from 0 to 65535'],
  'a database of a Cluster': [
    ['--redis-cluster=a', '--redis-db=1'],
    '--redis-db: expected 0, the only one of a Redis Cluster; given 1',
  ],
  'TLS beside a URL without': [
    ['--redis-url=redis://a', TLS],
    '--redis-tls: expected a --redis-url that begins with rediss://; given one with redis://',
  ],
  'certificates without TLS': [
    [HOST, '--redis-tls-ca-file=/a', '--redis-tls-server-name=b'],
    'because of --redis-tls-ca-file, --redis-tls-server-name; given none',
  ],
  'a certificate without a key': [
    [HOST, TLS, '--redis-tls-cert-file=/a'],
    '--redis-tls-cert-file: expected it with --redis-tls-key-file; given only --redis-tls-cert-file',
  ],
  'a key without a certificate': [[HOST, TLS, '--redis-tls-key-file=/a'], 'given only --redis-tls-key-file'],
  'authorities that nobody asks': [
    [HOST, TLS, '--redis-tls-ca-file=/a', '--redis-tls-insecure-skip-verify'],
    '--redis-tls-insecure-skip-verify: expected it or --redis-tls-ca-file; given both',
  ],
  'Sentinels without a master': [
    [SENTINELS],
    '--redis-sentinel-master: expected the name under which the Sentinels know the master; given none',
  ],
  'a master without Sentinels': [
    [MASTER, HOST],
    '--redis-sentinels: expected addresses, because of --redis-sentinel-master; given none',
  ],
  'a Sentinel that is no address': [
    ['--redis-sentinels=a:b', MASTER],
    '--redis-sentinels: expected addresses such as redis-0:26379,redis-1:26379; given "a:b"',
  ],
  "a Sentinel's password and its file": [
    [SENTINELS, MASTER, '--redis-sentinel-password=a', '--redis-sentinel-password-file=/b'],
    '--redis-sentinel-password-file: expected it or --redis-sentinel-password; given both',
  ],
  "a Sentinel's user without a password": [
    [SENTINELS, MASTER, '--redis-sentinel-username=a'],
    '--redis-sentinel-username: expected a --redis-sentinel-password or --redis-sentinel-password-file beside it',
  ],
};

describe('what does not go together is refused:', () => {
  it.each(Object.entries(WRONG))('%s', (_, [argv, complaint]) => {
    const errors = errorsOf(argv);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(complaint);
  });

  it('everything at once, and no password is told', () => {
    const env = {
      REDIS_URL: 'redis://:hidden1@a/1',
      REDIS_PASSWORD: 'hidden2',
      REDIS_SENTINEL_PASSWORD: 'hidden3',
    };
    const errors = errorsOf([HOST, '--redis-db=2', '--redis-tls-cert-file=/a'], env);
    expect(errors.map((error) => error.slice(0, error.indexOf(':')))).toEqual([
      '--redis-url',
      '--redis-url',
      '--redis-db',
      '--redis-tls',
      '--redis-tls-cert-file',
      '--redis-sentinels',
    ]);
    expect(errors.join('\n')).not.toContain('hidden');
  });
});

describe('the files of Redis', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-redis-files-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it('are complained of all at once, without what they hold', () => {
    const problems = redisFileProblems({
      redisPasswordFile: file('empty', '\n'),
      redisSentinelPasswordFile: join(folder, 'missing'),
      redisTlsCaFile: file('ca', 'hidden'),
      redisTlsCertFile: file('cert', '-----BEGIN CERTIFICATE-----\n'),
    });
    expect(problems).toEqual([
      `--redis-password-file: expected a file with a password; given "${folder}/empty", which is empty`,
      `--redis-sentinel-password-file: expected a file with a password; given "${folder}/missing" (ENOENT)`,
      `--redis-tls-ca-file: expected a file in PEM; given "${folder}/ca", which is in another form`,
    ]);
  });

  it('are complained of if they are PEM and no certificates', () => {
    const pem = file('pem', '-----BEGIN CERTIFICATE-----\nhidden\n-----END CERTIFICATE-----\n');
    const [problem, ...others] = redisFileProblems({ redisTlsCertFile: pem, redisTlsKeyFile: pem });
    expect(others).toEqual([]);
    expect(problem).toMatch(
      /^--redis-tls-cert-file: the certificates and the private key are invalid or do not match \([A-Z0-9_]+\)$/,
    );
  });

  it('are right if there are none', () => {
    expect(redisFileProblems(optionsOf([]))).toEqual([]);
  });
});
