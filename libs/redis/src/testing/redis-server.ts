/** A running Redis server. */
export interface RedisServer {
  readonly url: string;
  /** Stops the server and removes its files. */
  stop(): Promise<void>;
}

/** Starts a Redis server that writes everything below `dir`. */
export type StartRedis = (options: { readonly dir: string }) => Promise<RedisServer>;

export let startRedis: StartRedis = () =>
  Promise.reject(new Error('expected a setup file that calls startRedisWith'));

/** Sets how Redis servers are started, because libs do not know the tools (`tools/test/servers.ts`). */
export function startRedisWith(start: StartRedis): void {
  startRedis = start;
}
