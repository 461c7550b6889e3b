import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { catalogKeys } from '@reroll/redis/catalog/keys';
import { startRedis } from '../../../cluster/src/servers/redis.ts';
import { percentile } from '../measure/numbers.ts';
import { type Usage, usageOf } from '../measure/proc.ts';
import { Processes } from '../processes.ts';
import type { LimitedGroup } from '../pods/container-memory.ts';
import { CLUSTER_UID, startClusterStub } from './cluster-stub.ts';
import { fill, type HistoryLoad, type RedisMemory, sourceKey, workloadKey } from './history-load.ts';

export interface HistoryIo {
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface AskedFigures {
  /** As it is asked for, without what differs from one request to the next. */
  readonly what: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly bytes: number;
}

export interface HistoryFigures {
  readonly load: HistoryLoad;
  readonly redis: RedisMemory;
  readonly empty: Usage;
  /** Right after the history was read, and after all that was asked. */
  readonly loaded: Usage;
  readonly asked: Usage;
  readonly loadMs: number;
  readonly lists: readonly AskedFigures[];
}

const MAIN = join(import.meta.dirname, '../../../../apps/admin/dist/main.js');
const DOCKERFILE = join(import.meta.dirname, '../../../../deploy/docker/Dockerfile');
const NAMESPACE = 'bench';
const TOKEN = 'token-of-the-bench';
/** Of the requests that are measured of each list, how many come before them. */
const WARM_UP = 0.1;
const STARTS_WITHIN = 60_000;
const MOST_TRIES = 10;

/**
 * Fills a Redis of its own, starts an admin on it, and asks for lists. Everything ends with it. In a group with a limit, the admin
 * has the settings of the image.
 */
export async function measureHistory(
  load: HistoryLoad,
  io: HistoryIo,
  group?: LimitedGroup,
): Promise<HistoryFigures> {
  const dir = mkdtempSync(join(tmpdir(), 'reroll-bench-history-'));
  const ends: (() => Promise<void> | void)[] = [() => rmSync(dir, { recursive: true, force: true })];
  try {
    const server = await startRedis({ dir: join(dir, 'redis'), ...io });
    ends.push(() => server.stop());
    const redis = new Redis(server.url);
    ends.push(() => redis.disconnect());
    const kubeconfig = join(dir, 'kubeconfig');
    ends.push(await startClusterStub(kubeconfig));
    const processes = new Processes();
    ends.push(() => processes.stop());
    const start = (): Promise<Admin> =>
      startAdmin({ dir, kubeconfig, redisUrl: server.url, processes, group });
    const empty = await usageOnceBegun(await start());
    await processes.stop();
    io.log(`writing ${load.changes} changes and ${load.workloads} workloads`);
    const keys = catalogKeys({ cluster: CLUSTER_UID, namespace: NAMESPACE });
    const memory = await fill(redis, keys, load);
    const admin = await start();
    const loaded = await usageOnceBegun(admin);
    const lists = await askAll(admin, load, io);
    return { load, redis: memory, empty, loaded, asked: usageNow(admin), loadMs: admin.startedMs, lists };
  } finally {
    // oxlint-disable-next-line no-await-in-loop -- what was begun last ends first
    for (const end of ends.reverse()) await end();
  }
}

class Unavailable extends Error {}

interface Admin {
  readonly pid: number;
  readonly url: string;
  /** From its start until it serves. */
  readonly startedMs: number;
}

async function startAdmin(by: {
  dir: string;
  kubeconfig: string;
  redisUrl: string;
  processes: Processes;
  group: LimitedGroup | undefined;
}): Promise<Admin> {
  const tokens = join(by.dir, 'tokens.json');
  const sha256 = createHash('sha256').update(TOKEN).digest('hex');
  writeFileSync(tokens, JSON.stringify([{ name: 'bench', sha256, access: 'read', namespaces: ['*'] }]));
  const began = performance.now();
  const args = [
    MAIN,
    '--metrics-addr=127.0.0.1:0',
    '--api-addr=127.0.0.1:0',
    '--auth=static',
    `--static-tokens-file=${tokens}`,
    '--api-requests-per-minute=1000000',
    '--api-requests-per-minute-per-address=1000000',
  ];
  const admin = by.processes.start({
    name: 'admin',
    ...(by.group ? by.group.wrap([process.execPath, ...args]) : { args }),
    env: {
      ...(by.group ? imageSettings() : {}),
      KUBECONFIG: by.kubeconfig,
      REDIS_URL: by.redisUrl,
      POD_NAME: 'admin',
      POD_NAMESPACE: NAMESPACE,
    },
  });
  while (performance.now() - began < STARTS_WITHIN) {
    by.processes.verify();
    const address = /serving the API.*?address\W+([\d.]+:\d+)/u.exec(admin.logs())?.[1];
    if (address !== undefined)
      return { pid: admin.pid, url: `http://${address}`, startedMs: performance.now() - began };
    // oxlint-disable-next-line no-await-in-loop -- looks again
    await pause(10);
  }
  throw new Error(`expected the admin to serve its API within ${STARTS_WITHIN} ms`);
}

/** The variables of the image that decide about memory. */
function imageSettings(): Record<string, string> {
  const text = readFileSync(DOCKERFILE, 'utf8');
  const found = text.matchAll(/^(?:ENV)? +(NODE_OPTIONS|MALLOC_\w+)=(\S+)/gmu);
  return Object.fromEntries([...found].map(([, name, value]) => [name, value]));
}

function usageNow({ pid }: Admin): Usage {
  const usage = usageOf(pid);
  if (!usage) throw new Error('expected /proc to know the admin');
  return usage;
}

/** Its start ends with giving back memory, before it answers anybody. */
async function usageOnceBegun(admin: Admin): Promise<Usage> {
  await read(admin, '/changes?limit=1');
  return usageNow(admin);
}

type Ask = (index: number) => string;

async function askAll(admin: Admin, load: HistoryLoad, io: HistoryIo): Promise<AskedFigures[]> {
  const deep = await cursorAt(admin, '/changes?limit=200', Math.floor(load.changes / 400));
  const far = await cursorAt(admin, '/workloads?limit=200', 10);
  const { items } = await ask<{ items: { id: string }[] }>(admin, '/changes?limit=200');
  const team = (index: number): string => `team-${index % load.namespaces}`;
  const asks: readonly (readonly [string, Ask])[] = [
    ['/changes', () => '/changes'],
    ['/changes?limit=200', () => '/changes?limit=200'],
    ['/changes, a page in the middle', () => `/changes?${deep}`],
    ['/changes?namespace=', (index) => `/changes?namespace=${team(index)}`],
    ['/changes?source=', (index) => `/changes?source=${sourceKey(index, load)}`],
    ['/changes?workload=', (index) => `/changes?workload=${workloadKey(index, load)}`],
    ['/changes?state=failed', () => '/changes?state=failed'],
    ['/changes?state=stuck', () => '/changes?state=stuck'],
    ['/changes?state=pending, of which there is none', () => '/changes?state=pending'],
    ['/changes?cause=deleted, of which there is none', () => '/changes?cause=deleted'],
    ['/changes/{id}', (index) => `/changes/${items[index % items.length]?.id ?? ''}`],
    ['/workloads', () => '/workloads'],
    ['/workloads, the eleventh page of 200', () => `/workloads?limit=200&${far}`],
    ['/workloads?namespace=', (index) => `/workloads?namespace=${team(index)}`],
    ['/workloads?name=', (index) => `/workloads?name=service-${index}`],
    ['/workloads?due=owed', () => '/workloads?due=owed'],
    ['/sources', () => '/sources'],
    ['/sources?namespace=', (index) => `/sources?namespace=${team(index)}`],
  ];
  const figures: AskedFigures[] = [];
  for (const [what, path] of asks) {
    io.signal.throwIfAborted();
    // oxlint-disable-next-line no-await-in-loop -- one list after the other
    figures.push(await figuresOf(admin, load, { what, path }));
  }
  return figures;
}

async function figuresOf(
  admin: Admin,
  { requests }: HistoryLoad,
  { what, path }: { what: string; path: Ask },
): Promise<AskedFigures> {
  const times: number[] = [];
  const warmUp = Math.ceil(WARM_UP * requests);
  let bytes = 0;
  for (let index = 0; index < warmUp + requests; index += 1) {
    const began = performance.now();
    // oxlint-disable-next-line no-await-in-loop -- one request after the other
    const text = await read(admin, path(index));
    if (index >= warmUp) times.push(performance.now() - began);
    bytes = text.length;
  }
  return { what, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99), bytes };
}

/** The parameter by which a page comes after so many; '' if there are fewer. */
async function cursorAt(admin: Admin, path: string, pages: number): Promise<string> {
  let cursor = '';
  for (let page = 0; page < pages; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- page after page
    const { next } = await ask<{ next: string | null }>(admin, `${path}&${cursor}`);
    if (next === null) break;
    cursor = `cursor=${next}`;
  }
  return cursor;
}

/** What is not measured, and may come while the admin still scans the catalog. */
async function ask<Answer>(admin: Admin, path: string): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- once more
      return JSON.parse(await read(admin, path)) as Answer;
    } catch (error) {
      if (tries === MOST_TRIES || !(error instanceof Unavailable)) throw error;
    }
  }
}

async function read({ url }: Admin, path: string): Promise<string> {
  const response = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const text = await response.text();
  if (response.status === 503) throw new Unavailable(`expected 200 of ${path}, given 503: ${text}`);
  if (response.status !== 200) throw new Error(`expected 200 of ${path}, given ${response.status}: ${text}`);
  return text;
}
