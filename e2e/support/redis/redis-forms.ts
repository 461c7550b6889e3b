import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { freePort } from '../../../tools/cluster/src/servers/ports.ts';
import { ensureValkey } from '../../../tools/cluster/src/build/valkey-install.ts';
import { documentedRules, REDIS_USERS } from '@reroll/redis/testing/redis-users';
import { writeCertificates } from '../admin/certificates.ts';
import { cleanUp } from '../cleanup.ts';
import { RedisProcess } from './redis-process.ts';
import type { App } from '../processes.ts';
import type { Kind, Reroll } from '../reroll.ts';
import { eventually } from '../wait.ts';

type Environment = Readonly<Record<string, string>>;

/** A Redis in one of the forms that Reroll can be given. */
export interface RedisForm {
  /** What watchers and workers are given. */
  readonly env: Environment;
  /** What each is given besides, if each has a user of its own; `env` then says how the spec gets in. */
  readonly users?: Readonly<Record<Kind, Environment>>;
  /** What must not be found anywhere: passwords. */
  readonly secrets: readonly string[];
  /** Settings with which nobody gets in, and what is said of them. */
  readonly wrong: readonly (readonly [env: Environment, said: RegExp])[];
  /** Takes the server that holds these keys away; resolves when there is one again. */
  interrupt(prefix: string): Promise<void>;
  /** What was refused for want of a right since it was started. */
  refusals?(): Promise<readonly string[]>;
}

interface SentinelForm extends RedisForm {
  /** Takes the server away, and goes on with another that was told nothing of what was written meanwhile. */
  failOverWithout(meanwhile: () => Promise<void>): Promise<void>;
}

interface ClusterForm extends RedisForm {
  /** Moves the slot of these keys to another server, some at a time. */
  moveKeys(prefix: string): Promise<void>;
}

export type FormName = 'TLS' | 'Sentinel' | 'Cluster' | 'Valkey';

const REFUSED = /Redis refuses the user, the password or the rights.*reason=WRONGPASS/;

function password(): string {
  return `secret${randomBytes(12).toString('hex')}`;
}

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-redis-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const USER = 'reroll';
const SENTINEL_USER = 'reroll-sentinel';

/** A user that the guide tells people to make, as a line of redis.conf. */
function documented(user: string, secret: string): string {
  return `user ${user} on >${secret} ${documentedRules(user).join(' ')}`;
}

/** Client certificates too. While it is away everything is replaced: authority, certificates and password. */
async function withTls(): Promise<RedisForm> {
  const folder = freshFolder();
  const passwordFile = join(folder, 'password');
  const secrets = [password(), password()] as const;
  const files = writeCertificates(folder, 'redis.test');
  writeFileSync(passwordFile, `${secrets[0]}\n`);
  const tls = (): { ca: string; cert: string; key: string } => ({
    ca: readFileSync(files.ca, 'utf8'),
    cert: readFileSync(files.cert, 'utf8'),
    key: readFileSync(files.key, 'utf8'),
  });
  const passwords = join(folder, 'users.conf');
  const setPassword = (secret: string): void => writeFileSync(passwords, `requirepass ${secret}\n`);
  setPassword(secrets[0]);
  const server = await RedisProcess.start({
    folder,
    config: (port) => [
      'port 0',
      `tls-port ${port}`,
      `tls-cert-file ${files.cert}`,
      `tls-key-file ${files.key}`,
      `tls-ca-cert-file ${files.ca}`,
      `include ${passwords}`,
    ],
    as: { password: secrets[0], tls: { ...tls(), servername: 'redis.test' } },
  });
  const env = {
    REDIS_URL: `rediss://127.0.0.1:${server.port}`,
    REDIS_PASSWORD_FILE: passwordFile,
    REDIS_TLS_CERT_FILE: files.cert,
    REDIS_TLS_KEY_FILE: files.key,
  };
  const trusting = { ...env, REDIS_TLS_CA_FILE: files.ca };
  return {
    env: { ...trusting, REDIS_TLS_SERVER_NAME: 'redis.test' },
    secrets,
    wrong: [
      [{ ...env, REDIS_TLS_SERVER_NAME: 'redis.test' }, /reason=(?:SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)/],
    ],
    interrupt: async () => {
      await server.kill();
      writeCertificates(folder, 'redis.test');
      writeFileSync(passwordFile, `${secrets[1]}\n`);
      setPassword(secrets[1]);
      Object.assign(server.client.options, {
        password: secrets[1],
        tls: { ...tls(), servername: 'redis.test' },
      });
      await server.restart();
    },
  };
}

async function refusalsOf(server: RedisProcess, users: readonly string[]): Promise<readonly string[]> {
  const log = (await server.client.acl('LOG', 128)) as readonly (readonly unknown[])[];
  const entries = log.map((entry) => entry.join(' '));
  return entries.filter((entry) => users.some((user) => entry.includes(`username ${user} `)));
}

/** A Valkey with the users of the guide, one for each component. */
async function withUsers(): Promise<RedisForm> {
  const secrets = { watcher: password(), worker: password(), admin: password() };
  const own = password();
  const kinds = ['watcher', 'worker', 'admin'] as const;
  const server = await RedisProcess.start({
    folder: freshFolder(),
    config: () => [
      'user default off',
      ...kinds.map((kind) => documented(REDIS_USERS[kind], secrets[kind])),
      `user spec on >${own} ~* &* +@all`,
      `user blind on >${own} ~* +@connection`,
    ],
    as: { username: 'spec', password: own },
    program: await ensureValkey(),
  });
  const userEnv = (kind: Kind): Environment => ({
    REDIS_USERNAME: REDIS_USERS[kind],
    REDIS_PASSWORD: secrets[kind],
  });
  const env = { REDIS_HOST: '127.0.0.1', REDIS_PORT: String(server.port) };
  return {
    env: { ...env, REDIS_USERNAME: 'spec', REDIS_PASSWORD: own },
    users: { watcher: userEnv('watcher'), worker: userEnv('worker'), admin: userEnv('admin') },
    secrets: Object.values(secrets),
    wrong: [
      [{ ...env, ...userEnv('worker'), REDIS_PASSWORD: secrets.admin }, REFUSED],
      [env, /reason=NOAUTH/],
      [{ ...env, REDIS_USERNAME: 'blind', REDIS_PASSWORD: own }, /Redis refuses .*reason=NOPERM/],
    ],
    interrupt: () => server.restart(),
    refusals: async () => await refusalsOf(server, Object.values(REDIS_USERS)),
  };
}

const MASTER = 'main';

/** A master, a replica and three Sentinels, with passwords of their own. The master does not come back. */
async function withSentinels(): Promise<SentinelForm> {
  const folder = freshFolder();
  const [secret, sentinelSecret, ownSecret] = [password(), password(), password()];
  const server = async (...lines: readonly string[]): Promise<RedisProcess> =>
    await RedisProcess.start({
      folder,
      config: () => [`requirepass ${secret}`, `masterauth ${secret}`, 'repl-diskless-sync-delay 0', ...lines],
      as: { password: secret },
    });
  const master = await server();
  const replica = await server(`replicaof 127.0.0.1 ${master.port}`);
  await eventually(async () => (await replica.client.info('replication')).includes('master_link_status:up'), {
    what: 'the replica to follow',
  });
  const sentinels = await Promise.all(
    [1, 2, 3].map(() => startSentinel({ folder, master, secret, sentinelSecret, ownSecret })),
  );
  await eventually(async () => {
    const known = await Promise.all(
      sentinels.map(({ client }) => client.call('SENTINEL', 'CKQUORUM', MASTER)),
    );
    return known.every((answer) => String(answer).startsWith('OK 3'));
  });
  const env = {
    REDIS_SENTINELS: sentinels.map(({ address }) => address).join(','),
    REDIS_SENTINEL_MASTER: MASTER,
    REDIS_SENTINEL_USERNAME: SENTINEL_USER,
    REDIS_SENTINEL_PASSWORD: ownSecret,
    REDIS_PASSWORD: secret,
  };
  return {
    env,
    secrets: [secret, sentinelSecret, ownSecret],
    wrong: [[{ ...env, REDIS_SENTINEL_MASTER: 'another' }, /reason=UnknownMaster/]],
    interrupt: () => failOver(master, replica),
    failOverWithout: async (meanwhile) => {
      await replica.client.config('SET', 'masterauth', 'another');
      await replica.client.call('CLIENT', 'KILL', 'TYPE', 'master');
      await meanwhile();
      await failOver(master, replica);
    },
  };
}

async function failOver(master: RedisProcess, replica: RedisProcess): Promise<void> {
  await master.kill();
  await eventually(async () => (await replica.client.info('replication')).includes('role:master'), {
    what: 'the replica to be promoted',
  });
}

async function startSentinel(by: {
  folder: string;
  master: RedisProcess;
  secret: string;
  sentinelSecret: string;
  ownSecret: string;
}): Promise<RedisProcess> {
  return await RedisProcess.start({
    folder: by.folder,
    sentinel: true,
    config: () => [
      `requirepass ${by.sentinelSecret}`,
      documented(SENTINEL_USER, by.ownSecret),
      `sentinel monitor ${MASTER} 127.0.0.1 ${by.master.port} 2`,
      `sentinel auth-pass ${MASTER} ${by.secret}`,
      `sentinel down-after-milliseconds ${MASTER} 1000`,
      `sentinel failover-timeout ${MASTER} 5000`,
    ],
    as: { password: by.sentinelSecret },
  });
}

const SLOTS = [0, 5461, 10_923, 16_384] as const;

/** Three masters without replicas, and the user of the guide. The one that holds the keys is killed and comes back. */
async function withCluster(): Promise<ClusterForm> {
  const folder = freshFolder();
  const [secret, ownSecret] = [password(), password()];
  const user = documented(USER, ownSecret);
  const masters = await Promise.all([0, 1, 2].map(() => startClusterNode(folder, secret, user)));
  for (const [index, { client }] of masters.entries()) {
    await client.cluster('ADDSLOTSRANGE', SLOTS[index] ?? 0, (SLOTS[index + 1] ?? 0) - 1);
    for (const { port, bus } of masters) await client.cluster('MEET', '127.0.0.1', port, bus);
  }
  const ready = async (): Promise<boolean> => {
    const infos = await Promise.all(masters.map(({ client }) => client.cluster('INFO')));
    return infos.every((info) => /cluster_state:ok[^]*cluster_known_nodes:3/.test(info));
  };
  await eventually(ready, { what: 'the Cluster to be ready' });
  const env = {
    REDIS_CLUSTER: masters.map(({ address }) => address).join(','),
    REDIS_USERNAME: USER,
    REDIS_PASSWORD: ownSecret,
  };
  return {
    env,
    secrets: [secret, ownSecret],
    wrong: [],
    interrupt: async (prefix) => {
      const slot = Number(await masters[0]?.client.cluster('KEYSLOT', prefix));
      const holder = masters.findLast((_, index) => slot >= (SLOTS[index] ?? 0));
      await holder?.restart();
      await eventually(ready, { what: 'the Cluster to be ready again' });
    },
    moveKeys: async (prefix) => {
      const slot = Number(await masters[0]?.client.cluster('KEYSLOT', prefix));
      await moveSlot(slot, masters, secret);
    },
  };
}

/** As `redis-cli --cluster reshard` does it, but with a pause after each few keys. */
async function moveSlot(slot: number, masters: readonly RedisProcess[], secret: string): Promise<void> {
  const holder = masters.findLastIndex((_, index) => slot >= (SLOTS[index] ?? 0));
  const [from, to] = [masters[holder], masters[(holder + 1) % masters.length]];
  if (!from || !to) throw new Error('expected a Cluster of several servers');
  const [source, target] = await Promise.all([from, to].map(({ client }) => client.cluster('MYID')));
  await to.client.cluster('SETSLOT', slot, 'IMPORTING', String(source));
  await from.client.cluster('SETSLOT', slot, 'MIGRATING', String(target));
  for (;;) {
    const keys = await from.client.cluster('GETKEYSINSLOT', slot, 10);
    if (keys.length === 0) break;
    await from.client.call('MIGRATE', '127.0.0.1', to.port, '', 0, 5_000, 'AUTH', secret, 'KEYS', ...keys);
    await pause(20);
  }
  for (const { client } of [to, from, ...masters]) {
    await client.cluster('SETSLOT', slot, 'NODE', String(target));
  }
}

async function startClusterNode(
  folder: string,
  secret: string,
  user: string,
): Promise<RedisProcess & { bus: number }> {
  const bus = await freePort();
  const node = await RedisProcess.start({
    folder,
    config: () => [
      'cluster-enabled yes',
      `cluster-port ${bus}`,
      'cluster-node-timeout 2000',
      `requirepass ${secret}`,
      `masterauth ${secret}`,
      user,
    ],
    as: { password: secret },
  });
  return Object.assign(node, { bus });
}

/** How each is started; everything ends with the test. */
export const REDIS_FORMS = {
  TLS: withTls,
  Sentinel: withSentinels,
  Cluster: withCluster,
  Valkey: withUsers,
} satisfies Readonly<Record<FormName, () => Promise<RedisForm>>>;

/** Starts one with each of the wrong settings; they go on trying, say why, and are not ready. */
export async function refusedAll(reroll: Reroll, { wrong }: RedisForm): Promise<void> {
  const apps = wrong.map(([env, said]) => [reroll.start('worker', [], env), said] as const);
  await Promise.all(apps.map(([app, said]) => refused(app, said)));
}

async function refused(app: App, said: RegExp): Promise<void> {
  await eventually(() => said.test(app.logs()), { what: `${app.name} to say ${said}` });
  expect(await app.status('/ready')).toBe(503);
  expect(await app.status('/live')).toBe(200);
  expect(await app.stop()).toBe(0);
}
