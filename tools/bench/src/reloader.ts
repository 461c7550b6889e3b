import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { App, Launch } from '../../../e2e/support/processes.ts';
import { imageEnvironment } from '../../deploy/images/dockerfile.ts';
import { ClusterError } from '../../cluster/src/errors.ts';
import { waitUntil } from '../../cluster/src/wait.ts';
import type { NamedProcess } from './measure/proc.ts';
import type { Processes } from './processes.ts';

export interface RerollOptions {
  readonly watchers: number;
  readonly workers: number;
  /** Of each worker. */
  readonly concurrency: number;
  /** A duration as in Go; undefined: the default. */
  readonly debounce: string | undefined;
}

/** What is measured: Reroll, or any other reloader by its command line. */
export type Subject = { readonly reroll: RerollOptions } | { readonly commandLine: string };

/** The subject as a scenario has it started. */
export function subjectOf(subject: Subject, scenario: { readonly defaultDebounce?: true }): Subject {
  if (scenario.defaultDebounce !== true || !('reroll' in subject)) return subject;
  return { reroll: { ...subject.reroll, debounce: undefined } };
}

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
 * Starts the subject's processes. Reroll is ready when they say so, and one watcher leads; of another reloader it is only known
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
  const startAll = (kind: Kind, count: number): App[] =>
    Array.from({ length: count }, (_, index) =>
      processes.start(launchOf(`${kind}-${index + 1}`, kind, { options, place })),
    );
  const watchers = startAll('watcher', options.watchers);
  const workers = startAll('worker', options.workers);
  await allReady(watchers, { place, processes });
  const syncSeconds = (performance.now() - began) / 1000;
  await allReady(workers, { place, processes });
  await oneLeads(watchers, { place, processes });
  return { processes: [...watchers, ...workers], watchers, workers, syncSeconds };
}

type Kind = 'watcher' | 'worker';

function launchOf(name: string, kind: Kind, by: { options: RerollOptions; place: Place }): Launch {
  const main = join(ROOT, 'apps', kind, 'dist', 'main.js');
  if (!existsSync(main)) throw new ClusterError(`expected ${main} to be built: run \`npm run build\` first`);
  const { kubeconfig: KUBECONFIG, redisUrl: REDIS_URL } = by.place;
  // The folder of the compile cache is one in the image.
  const { NODE_COMPILE_CACHE: _, ...settings } = imageEnvironment();
  return {
    name,
    args: [main, ...flagsOf(kind, by.options)],
    env: { ...settings, KUBECONFIG, REDIS_URL, POD_NAME: name, POD_NAMESPACE: 'default' },
  };
}

/** The one before was killed: its Lease has to expire first. */
async function oneLeads(watchers: readonly App[], by: { place: Place; processes: Processes }): Promise<void> {
  const condition = (): boolean => {
    by.processes.verify();
    return watchers.some((watcher) => watcher.logs().includes('became leader'));
  };
  const { signal } = by.place;
  await waitUntil(condition, { what: 'a watcher to lead', timeoutMs: READY_WITHIN_MS, everyMs: 20, signal });
}

export function flagsOf(kind: Kind, { concurrency, debounce }: RerollOptions): string[] {
  // A scenario changes a source more often than the default limit of a workload lets it be reloaded.
  const ofWorker = [`--concurrency=${concurrency}`, '--workload-reload-limit=none'];
  return [
    '--metrics-addr=127.0.0.1:0',
    ...(debounce === undefined ? [] : [`--debounce=${debounce}`]),
    ...(kind === 'worker' ? ofWorker : []),
  ];
}

async function allReady(apps: readonly App[], by: { place: Place; processes: Processes }): Promise<void> {
  const { signal } = by.place;
  await Promise.all(
    apps.map(async (app) => {
      const condition = async (): Promise<boolean> => {
        by.processes.verify();
        return (await app.status('/ready')) === 200;
      };
      const what = `${app.name} to be ready`;
      await waitUntil(condition, { what, timeoutMs: READY_WITHIN_MS, everyMs: 20, signal });
    }),
  );
}
