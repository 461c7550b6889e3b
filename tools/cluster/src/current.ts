import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
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
  const server = currentServer(files.map(readConfig).join('\n'));
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

/**
 * The server of the current context. Reads what kubectl and this tool write, block style with one
 * field a line; more of YAML is not needed to find four names.
 */
export function currentServer(config: string): string | undefined {
  const current = /^current-context:\s*(\S+)/m.exec(config)?.[1];
  if (current === undefined) return undefined;
  const context = items(config).find((item) => item.has('cluster') && item.get('name') === unquote(current));
  const cluster = items(config).find(
    (item) => item.has('server') && item.get('name') === context?.get('cluster'),
  );
  return cluster?.get('server')?.replace(/\/$/, '');
}

/** Every entry of every list at the left margin, as the scalars in it: their names never clash. */
function items(config: string): Map<string, string>[] {
  const found: Map<string, string>[] = [];
  for (const line of config.split('\n')) {
    const [, dash = '', key = '', value = ''] = /^(\s*-?)\s*([\w-]+):\s*(\S*)\s*$/.exec(line) ?? [];
    if (/^ {0,2}-$/.test(dash)) found.push(new Map());
    if (value !== '') found.at(-1)?.set(key, unquote(value));
  }
  return found;
}

function unquote(value: string): string {
  return value.replace(/^(["'])(.*)\1$/, '$2');
}
