/** A Redis server that runs. */
export interface RedisServer {
  readonly url: string;
  /** Ends it and removes what it wrote. */
  stop(): Promise<void>;
}

/** Starts a Redis server that writes everything below `dir`. */
export type StartRedis = (options: { readonly dir: string }) => Promise<RedisServer>;

export let startRedis: StartRedis = () =>
  Promise.reject(new Error('expected a setup file that calls startRedisWith'));

/** Sets how a Redis server is started, since libs know no tool that does (`tools/test/servers.ts`). */
export function startRedisWith(start: StartRedis): void {
  startRedis = start;
}
