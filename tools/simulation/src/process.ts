/** A process of Reroll inside the simulation: the compiled modules of an app, with ports that lead into the small world. */
import { join } from 'node:path';
import type { DynamicModule } from '@nestjs/common';
import type { ClusterState } from '@reroll/core/state/cluster-state';
import type { Outside, ProcessOptions } from '@reroll/nest/process';
import type { RedisAccess } from '@reroll/redis/connection/redis-access';
import type { Events, Owner } from './scheduler.ts';
import type { WatcherRows } from './world/watcher-rows.ts';

const APPS = join(import.meta.dirname, '../../../apps');

async function load() {
  const { Process } = await import('@reroll/nest/process');
  const { startModules } = await import('@reroll/nest/run-process');
  const { parseOptions } = await import('@reroll/shared/platform/options/parsing/parse');
  const { WatcherModule } = (await import(
    join(APPS, 'watcher/build/watcher.module.js')
  )) as typeof import('../../../apps/watcher/src/watcher.module.ts');
  const { WatcherHeartbeat } = (await import(
    join(APPS, 'watcher/build/heartbeat.service.js')
  )) as typeof import('../../../apps/watcher/src/heartbeat.service.ts');
  const { WorkerModule } = (await import(
    join(APPS, 'worker/build/worker.module.js')
  )) as typeof import('../../../apps/worker/src/worker.module.ts');
  return { Process, startModules, parseOptions, WatcherModule, WatcherHeartbeat, WorkerModule };
}

let apps: Awaited<ReturnType<typeof load>> | undefined;

/** Loads everything, so that no run has to wait for a file. Build first. */
export async function loadApps(): Promise<void> {
  apps ??= await load();
}

export type Kind = 'watcher' | 'worker';

export interface Ports
  extends Pick<Outside, 'openPool' | 'openReceiver'>, Pick<RedisAccess, 'redisConnector'> {
  readonly events: Events;
  readonly env: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
  /** Gets each line of its log. */
  readonly log: (line: string) => void;
  /** It has ended by itself, or at a signal. */
  readonly ended: (code: number) => void;
}

export class SimulatedProcess implements Owner {
  readonly name: string;
  readonly kind: Kind;
  isAlive = true;
  clockSkew = 0;
  frozenSince = 0;
  frozenUntil = 0;
  /** When it was started, in virtual milliseconds. */
  startedAt = 0;
  /** It was told to end. */
  isStopping = false;
  /** When it began to end in order, in virtual milliseconds. */
  stoppingSince = Infinity;
  /** When its lists were complete, in virtual milliseconds. */
  syncedAt = 0;
  /** It has taken over as the leader. */
  leads = false;
  /** What a watcher has in memory, once it has begun to stream. */
  rows: WatcherRows | undefined;
  readonly #listeners = new Map<string, (argument: unknown) => void>();

  constructor(kind: Kind, name: string) {
    this.kind = kind;
    this.name = name;
  }

  /** Starts it. What it does belongs to it from then on. Throws unless the apps are loaded. */
  start(ports: Ports): void {
    this.startedAt = ports.events.now();
    ports.events.after(0, this, () => this.#begin(ports));
  }

  /** As if Node.js had got a signal. */
  receive(signal: 'SIGTERM'): void {
    this.isStopping = true;
    this.#listeners.get(signal)?.(signal);
  }

  #begin({ env, flags, openPool, openReceiver, redisConnector, log, ended }: Ports): void {
    if (!apps) throw new Error('expected the apps to be loaded');
    const parsed = apps.parseOptions(this.kind, flags, env);
    if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
    const end = (code: number): void => {
      if (!this.isAlive) return;
      this.isAlive = false;
      ended(code);
    };
    const options = { ...parsed.options, redisConnector } as ProcessOptions;
    const process = new apps.Process(this.kind, options, {
      process: { on: (event, listener) => this.#listeners.set(event, listener), exit: end },
      logSink: { write: log },
      isListening: false,
      openPool,
      openReceiver,
    });
    // Nothing is left then that would keep Node.js running.
    void process.lifecycle.stopped.then(end);
    const { WatcherModule, WatcherHeartbeat, WorkerModule } = apps;
    const module =
      this.kind === 'watcher'
        ? this.#withRowsSeen(WatcherModule.of(options as never, process), WatcherHeartbeat)
        : WorkerModule.of(options as never, process);
    apps.startModules(process, [module]).catch((error: unknown) => void process.startFailed(error));
  }

  /** Keeps the cluster state as it is given to the heartbeat, the one provider that gets it. */
  #withRowsSeen(
    module: DynamicModule,
    WatcherHeartbeat: Awaited<ReturnType<typeof load>>['WatcherHeartbeat'],
  ): DynamicModule {
    const see = (rows: WatcherRows): void => void (this.rows = rows);
    class SeenHeartbeat extends WatcherHeartbeat {
      override start(state: ClusterState): void {
        see(state);
        super.start(state);
      }
    }
    const seen = { provide: WatcherHeartbeat, useClass: SeenHeartbeat };
    return { ...module, providers: [...(module.providers ?? []), seen] };
  }
}
