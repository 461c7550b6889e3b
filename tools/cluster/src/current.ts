import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { parseDocument } from 'yaml';
import { ClusterError, messageOf } from './errors.ts';
import { send } from './servers/http.ts';
import { type RedisAddress, askRedis } from './servers/redis-protocol.ts';

/** The servers that a developer points at instead of starting any. */
export interface Current {
  readonly kubeconfig: string;
  readonly redisUrl: string;
}

/**
 * Takes KUBECONFIG and REDIS_URL from the environment and verifies that both servers answer. It sends
 * no credential: whether the rights suffice shows when they are used.
 * @throws ClusterError that says which of them is missing or does not answer, and how.
 */
export async function useCurrent(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Current> {
  const { KUBECONFIG: kubeconfig = '', REDIS_URL: redisUrl = '' } = environment;
  const missing = Object.entries({ KUBECONFIG: kubeconfig, REDIS_URL: redisUrl }).filter(
    ([, value]) => value === '',
  );
  if (missing.length > 0) {
    throw new ClusterError(
      `expected ${missing.map(([name]) => name).join(' and ')} to be set for --use-current`,
    );
  }
  await Promise.all([verifyKube(kubeconfig), verifyRedis(redisUrl)]);
  return { kubeconfig, redisUrl };
}

async function verifyKube(paths: string): Promise<void> {
  const files = paths.split(delimiter).filter((path) => path !== '');
  const server = currentServer(files.map(readConfig));
  if (server === undefined) {
    throw new ClusterError(
      `expected the current context of KUBECONFIG (${paths}) to name a cluster with a server`,
    );
  }
  try {
    // Any answer will do, and nothing secret is sent: so the certificate need not be verified.
    await send({ url: `${server}/version`, verify: false });
  } catch (error) {
    throw new ClusterError(
      `expected the API server of KUBECONFIG at ${server} to answer: ${messageOf(error)}`,
    );
  }
}

function readConfig(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ClusterError(`expected KUBECONFIG to name files that can be read: ${messageOf(error)}`);
  }
}

async function verifyRedis(url: string): Promise<void> {
  const { address, shown } = redisAddress(url);
  const reply = await askRedis(address, 'PING');
  // It wants the password first: that is an answer too.
  if (reply === '+PONG' || reply?.startsWith('-NOAUTH') === true) return;
  throw new ClusterError(
    `expected the Redis of REDIS_URL at ${shown} to answer PING with PONG, got ${reply ?? 'nothing'}`,
  );
}

function redisAddress(url: string): { address: RedisAddress; shown: string } {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !['redis:', 'rediss:'].includes(parsed.protocol)) {
    // Not shown: it may hold a password.
    throw new ClusterError(
      'expected REDIS_URL to be like redis://[user:password@]host:port, given something else',
    );
  }
  const port = Number(parsed.port === '' ? '6379' : parsed.port);
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  return { address: { host, port, tls: parsed.protocol === 'rediss:' }, shown: `${parsed.hostname}:${port}` };
}

interface KubeConfig {
  readonly 'current-context'?: string;
  readonly contexts?: readonly { readonly name: string; readonly context: { readonly cluster: string } }[];
  readonly clusters?: readonly { readonly name: string; readonly cluster: { readonly server?: string } }[];
}

/** The server of the current context, by the texts of all files of a KUBECONFIG. */
export function currentServer(texts: readonly string[]): string | undefined {
  const configs = texts.map((text) => (parseDocument(text).toJS() ?? {}) as KubeConfig);
  const current = configs.map((config) => config['current-context']).find((name) => name !== undefined);
  const contexts = configs.flatMap((config) => config.contexts ?? []);
  const cluster = contexts.find(({ name }) => name === current)?.context.cluster;
  const clusters = configs.flatMap((config) => config.clusters ?? []);
  return clusters.find(({ name }) => name === cluster)?.cluster.server?.replace(/\/$/, '');
}
