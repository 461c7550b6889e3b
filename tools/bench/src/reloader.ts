import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ClusterError } from '../../cluster/src/errors.ts';
import { answersOk } from '../../cluster/src/servers/http.ts';
import { freePort } from '../../cluster/src/servers/ports.ts';
import { waitUntil } from '../../cluster/src/wait.ts';
import type { NamedProcess } from './measure/proc.ts';
import type { Launch, Processes } from './processes.ts';

export interface RerollOptions {
  readonly watchers: number;
  readonly workers: number;
  /** Of each worker. */
  readonly concurrency: number;
  /** A duration as in Go. */
  readonly debounce: string;
}

/** What is measured: Reroll, or any other reloader by its command line. */
export type Subject = { readonly reroll: RerollOptions } | { readonly commandLine: string };

export interface Place {
  readonly kubeconfig: string;
  readonly redisUrl: string;
  readonly signal: AbortSignal;
}

/** A reloader that was started. */
export interface Started {
  readonly processes: readonly NamedProcess[];
  /** Empty for another reloader than Reroll. */
  readonly watchers: readonly NamedProcess[];
  readonly workers: readonly NamedProcess[];
  /** From the start of the processes until every watcher was ready; undefined for another reloader. */
  readonly syncSeconds: number | undefined;
}

const ROOT = join(import.meta.dirname, '../../..');
/** A large cluster takes its time; a target says how much is too much. */
const READY_WITHIN_MS = 300_000;

/**
 * Starts the subject's processes. Reroll is ready when they say so; of another reloader it is only known
 * that its process runs: whether it reacts is found out by the caller.
 */
export async function startReloader(subject: Subject, place: Place, processes: Processes): Promise<Started> {
  if ('reroll' in subject) return await startReroll(subject.reroll, place, processes);
  const other = processes.start({
    name: 'reloader',
    command: '/bin/sh',
    // The shell gives its place to the command, so that the pid is the reloader's.
    args: ['-c', `exec ${subject.commandLine}`],
    env: { KUBECONFIG: place.kubeconfig, POD_NAME: 'reloader', POD_NAMESPACE: 'default' },
  });
  return { processes: [other], watchers: [], workers: [], syncSeconds: undefined };
}

async function startReroll(options: RerollOptions, place: Place, processes: Processes): Promise<Started> {
  const began = performance.now();
  const startAll = async (app: App, count: number): Promise<Ready[]> => {
    const indexes = Array.from({ length: count }, (_, index) => index + 1);
    return await Promise.all(
      indexes.map(async (index) => {
        const port = await freePort();
        return { ...processes.start(launchOf({ app, index, port }, { options, place })), port };
      }),
    );
  };
  const watchers = await startAll('watcher', options.watchers);
  const workers = await startAll('worker', options.workers);
  await allReady(watchers, { place, processes });
  const syncSeconds = (performance.now() - began) / 1000;
  await allReady(workers, { place, processes });
  return { processes: [...watchers, ...workers], watchers, workers, syncSeconds };
}

type App = 'watcher' | 'worker';

interface Ready extends NamedProcess {
  readonly port: number;
}

function launchOf(
  one: { app: App; index: number; port: number },
  by: { options: RerollOptions; place: Place },
): Launch {
  const main = join(ROOT, 'apps', one.app, 'dist', 'main.js');
  if (!existsSync(main)) throw new ClusterError(`expected ${main} to be built: run \`npm run build\` first`);
  const name = `${one.app}-${one.index}`;
  const own = one.app === 'worker' ? [`--concurrency=${by.options.concurrency}`] : [];
  return {
    name,
    command: process.execPath,
    args: [main, `--metrics-addr=127.0.0.1:${one.port}`, `--debounce=${by.options.debounce}`, ...own],
    env: {
      KUBECONFIG: by.place.kubeconfig,
      REDIS_URL: by.place.redisUrl,
      POD_NAME: name,
      POD_NAMESPACE: 'default',
    },
  };
}

async function allReady(those: readonly Ready[], by: { place: Place; processes: Processes }): Promise<void> {
  const { signal } = by.place;
  await Promise.all(
    those.map(async ({ name, port }) => {
      const condition = async (): Promise<boolean> => {
        by.processes.verify();
        return await answersOk({ url: `http://127.0.0.1:${port}/ready` });
      };
      await waitUntil(condition, {
        what: `${name} to be ready`,
        timeoutMs: READY_WITHIN_MS,
        everyMs: 20,
        signal,
      });
    }),
  );
}
