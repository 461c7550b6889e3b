/** The two API servers of the one etcd, either of which may fall behind it for a while. Times are in virtual milliseconds. */
import type { SimulatedApi } from './api/simulated-api.ts';
import type { Scheduler } from './scheduler.ts';

export const SERVERS = ['api-0', 'api-1'] as const;
export type ServerName = (typeof SERVERS)[number];

const SOURCES: ReadonlySet<string> = new Set(['ConfigMap', 'Secret']);

/** What a server knows too late. */
export type LateKinds = 'sources' | 'others' | 'all';

interface Server {
  readonly name: ServerName;
  lag: number;
  lagUntil: number;
  cutSince: number | undefined;
  cutUntil: number;
  /** When it last was behind, and up to when it then knew what was written. */
  wasBehind: { at: number; knew: number };
}

export class StaleServers {
  readonly #events: Scheduler;
  readonly #api: SimulatedApi;
  readonly #servers: readonly Server[];

  constructor(by: { events: Scheduler; api: SimulatedApi }) {
    this.#events = by.events;
    this.#api = by.api;
    this.#servers = SERVERS.map((name) => ({
      name,
      lag: 0,
      lagUntil: 0,
      cutSince: undefined,
      cutUntil: 0,
      wasBehind: { at: -Infinity, knew: 0 },
    }));
  }

  /** Its caches of these kinds are so many milliseconds behind, for a time. */
  lag({
    server: name,
    kinds,
    by,
    for: time,
  }: {
    server: ServerName;
    kinds: LateKinds;
    by: number;
    for: number;
  }): void {
    const server = this.#serverOf(name);
    server.lag = Math.max(server.lag, by);
    server.lagUntil = Math.max(server.lagUntil, this.#events.now() + time);
    this.#api.server(name).lag = ({ kind }) =>
      kinds === 'all' || SOURCES.has(kind) === (kinds === 'sources') ? by : 0;
    this.#events.after(time, undefined, () => this.#mend(server));
  }

  /** It is cut off from etcd for a time. */
  cutOff({ server: name, for: time }: { server: ServerName; for: number }): void {
    const server = this.#serverOf(name);
    server.cutSince ??= this.#events.now();
    server.cutUntil = Math.max(server.cutUntil, this.#events.now() + time);
    this.#api.server(name).cutOff();
    this.#events.after(time, undefined, () => this.#mend(server));
  }

  heal(): void {
    for (const server of this.#servers) {
      server.lagUntil = 0;
      server.cutUntil = 0;
      this.#mend(server);
    }
  }

  /** Whether any of them was behind since then. */
  wasBehindSince(time: number): boolean {
    return this.#servers.some((server) => isBehind(server) || server.wasBehind.at >= time);
  }

  /** Up to when the server knows what was written. */
  knowsUntil(name: ServerName): number {
    return this.#knows(this.#serverOf(name));
  }

  /** Up to when everybody has known what was written for so many milliseconds. */
  knownUntil(wait: number): number {
    const now = this.#events.now();
    const known = this.#servers.flatMap((server) => [
      this.#knows(server),
      server.wasBehind.at > now - wait ? server.wasBehind.knew : now,
    ]);
    return Math.min(...known) - wait;
  }

  #knows(server: Server): number {
    return Math.min(server.cutSince ?? Infinity, this.#events.now() - server.lag);
  }

  /** Ends what is over by now. */
  #mend(server: Server): void {
    const now = this.#events.now();
    const knew = this.#knows(server);
    const [wasLate, wasCut] = [server.lag > 0, server.cutSince !== undefined];
    const api = this.#api.server(server.name);
    if (wasCut && server.cutUntil <= now) {
      server.cutSince = undefined;
      api.reconnect();
    }
    if (wasLate && server.lagUntil <= now) {
      server.lag = 0;
      api.lag = () => 0;
      api.catchUp();
    }
    if (wasLate || wasCut) server.wasBehind = { at: now, knew };
  }

  #serverOf(name: ServerName): Server {
    const server = this.#servers.find((each) => each.name === name);
    if (!server) throw new Error(`expected a server, given ${name}`);
    return server;
  }
}

function isBehind({ lag, cutSince }: Server): boolean {
  return lag > 0 || cutSince !== undefined;
}
