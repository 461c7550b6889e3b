/** Where the processes of an install run: each is started again when it ends, as a kubelet does. */
import { writeFileSync } from 'node:fs';
import type { SimulatedApi } from './api/simulated-api.ts';
import { pathOfFile } from './temporary-files.ts';
import { SimulatedProcess, type Kind } from './process.ts';
import { ReceiverPool, type ReceiverBy } from './receiver.ts';
import type { SimulatedRedis } from './redis/server.ts';
import type { Events } from './scheduler.ts';
import { SERVERS, type ServerName } from './stale-servers.ts';
import { INSTALL } from './world/shapes.ts';

/** Kinds with an API that may be missing are found soon after a start, also if a request for that fails. */
const WATCHER_FLAGS = [
  '--is-openshift=false',
  '--is-argo-rollouts=true',
  '--enable-csi-integration',
  '--discovery-interval=1s',
  '--sweep-interval=10s',
];
/** Until a process that ended is started again, in virtual milliseconds. */
const RESTART = 1_500;

export interface PlacesBy {
  readonly events: Events;
  readonly api: SimulatedApi;
  readonly redis: SimulatedRedis;
  readonly receiver: ReceiverBy;
  readonly flags: (kind: Kind) => readonly string[];
  /** Gets every line of a log, and what else happens to a process. */
  readonly log: (who: string, line: string) => void;
  /** A process has ended, by itself or because it was killed. */
  readonly ended: (process: SimulatedProcess) => void;
}

interface Place {
  readonly kind: Kind;
  readonly index: number;
  process: SimulatedProcess | undefined;
  /** The API server that its connections reach. */
  server: ServerName;
  /** Not started again before, in virtual milliseconds. */
  downUntil: number;
  starts: number;
}

let kubeconfig: string | undefined;

/** A file, because that is what the option of a process names. It is never connected to. */
function kubeconfigFile(): string {
  if (kubeconfig !== undefined) return kubeconfig;
  kubeconfig = pathOfFile('kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'simulated', cluster: { server: 'https://api.simulated' } }],
    users: [{ name: 'simulated', user: { token: 'simulated' } }],
    contexts: [{ name: 'simulated', context: { cluster: 'simulated', user: 'simulated' } }],
    'current-context': 'simulated',
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return kubeconfig;
}

/** Two watchers and two workers. */
export class Places {
  readonly #by: PlacesBy;
  readonly #places: readonly Place[];

  constructor(by: PlacesBy) {
    this.#by = by;
    this.#places = (['watcher', 'watcher', 'worker', 'worker'] as const).map((kind, at) => ({
      kind,
      index: at % 2,
      process: undefined,
      server: SERVERS[0],
      downUntil: 0,
      starts: 0,
    }));
  }

  get processes(): SimulatedProcess[] {
    return this.#places.flatMap(({ process }) => process ?? []);
  }

  /** Within a second, in any order. */
  startAll(): void {
    for (const place of this.#places) this.#startSoon(place, Math.floor(this.#by.events.random() * 1_000));
  }

  process(kind: Kind, index: number): SimulatedProcess | undefined {
    return this.#places.find((place) => place.kind === kind && place.index === index)?.process;
  }

  /** The process that holds the Lease, if it is alive. */
  leader(): SimulatedProcess | undefined {
    const lease = this.#by.api.as('world').list('Lease', INSTALL)[0];
    const holder = (lease?.['spec'] as { holderIdentity?: string } | undefined)?.holderIdentity ?? '';
    return this.processes.find(({ isAlive, name }) => isAlive && holder.startsWith(`${name}_`));
  }

  /** From now on it reaches this API server; its watches are cut. */
  move(at: number, server: ServerName): void {
    const place = this.#places[at];
    if (!place || place.server === server) return;
    place.server = server;
    for (const watch of this.#by.api.watches) if (watch.owner === place.process) watch.cut('reset');
  }

  /** The API server that the connections of the process reach. */
  serverOf(process: SimulatedProcess): ServerName {
    return this.#places.find((place) => place.process === process)?.server ?? SERVERS[0];
  }

  /** As by SIGKILL, and not back before so many milliseconds. */
  kill(process: SimulatedProcess, time: number): void {
    const place = this.#placeOf(process);
    place.downUntil = this.#by.events.now() + time;
    if (process.isAlive) {
      process.isAlive = false;
      this.#by.log(process.name, 'killed');
      this.#by.ended(process);
    }
    this.#startSoon(place, time);
  }

  /** As by SIGTERM. */
  stop(process: SimulatedProcess, time: number): void {
    this.#placeOf(process).downUntil = this.#by.events.now() + time;
    // An event of its own, so that it belongs to the process.
    this.#by.events.after(0, process, () => process.receive('SIGTERM'));
  }

  /** One process after another, so many milliseconds apart: each ends as by SIGTERM, and is started again. */
  restartAll(pace: number): void {
    for (const [at, place] of this.#places.entries())
      this.#by.events.after(at * pace + 1, undefined, () => {
        if (place.process?.isAlive === true) this.stop(place.process, 0);
      });
  }

  /** Everything that is down is started, and what is frozen goes on. */
  heal(): void {
    for (const place of this.#places) {
      const { process } = place;
      place.downUntil = 0;
      if (process) process.frozenUntil = Math.min(process.frozenUntil, this.#by.events.now());
      if (process?.isAlive !== true) this.#startSoon(place, 1);
    }
  }

  /** For good. */
  endAll(): void {
    for (const process of this.processes) process.isAlive = false;
  }

  #placeOf(process: SimulatedProcess): Place {
    const place = this.#places.find((each) => each.process === process);
    if (!place) throw new Error(`expected ${process.name} to have a place`);
    return place;
  }

  #startSoon(place: Place, wait: number): void {
    const { events } = this.#by;
    events.after(Math.max(wait, 1), undefined, () => {
      if (place.process?.isAlive !== true && place.downUntil <= events.now()) this.#start(place);
    });
  }

  #start(place: Place): void {
    const { events, api, redis, receiver, flags, log, ended } = this.#by;
    const { kind } = place;
    const process = new SimulatedProcess(kind, `${kind}-${place.index}.${(place.starts += 1)}`);
    place.process = process;
    log(process.name, 'starts');
    const pool = api.pool(process, () => api.server(place.server));
    process.start({
      events,
      env: { KUBECONFIG: kubeconfigFile(), POD_NAME: process.name, POD_NAMESPACE: INSTALL },
      flags: kind === 'watcher' ? [...WATCHER_FLAGS, ...flags(kind)] : flags(kind),
      openPool: () => pool,
      openReceiver: () => new ReceiverPool(receiver, process),
      redisConnector: redis.connectorFor(process),
      log: (line) => log(process.name, line.replace(/^time="[^"]*" /, '').trimEnd()),
      ended: (code) => {
        log(process.name, `ended with ${code}`);
        ended(process);
        this.#startSoon(place, Math.max(RESTART, place.downUntil - events.now()));
      },
    });
  }
}
