import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { freePort } from '../../../tools/cluster/src/servers/ports.ts';
import { ensureRedis } from '../../../tools/cluster/src/build/redis-install.ts';
import { cleanUp } from '../cleanup.ts';
import { App } from '../processes.ts';
import { eventually } from '../wait.ts';

export interface ProcessOptions {
  /** Of this server alone: a folder is made in it. */
  readonly folder: string;
  /** Lines of redis.conf, beside address, port, append-only file and `noeviction`. */
  readonly config: (port: number) => readonly string[];
  /** How the test itself gets in. */
  readonly as?: RedisOptions;
  /** Default `redis-server`, wherever it is. */
  readonly program?: string;
  readonly sentinel?: boolean;
}

/** One Redis server or Sentinel on a free port; it ends with the test, also if that fails or is killed. */
export class RedisProcess {
  readonly port: number;
  /** For whatever the test does by hand. */
  readonly client: Redis;
  readonly #launch: () => App;
  #app: App;

  private constructor(port: number, launch: () => App, as: RedisOptions) {
    this.port = port;
    this.#launch = launch;
    this.#app = launch();
    const options = { host: '127.0.0.1', maxRetriesPerRequest: null, retryStrategy: () => 50, ...as };
    this.client = new Redis({ ...options, port, replyMapping: 'legacy' });
    this.client.on('error', () => undefined);
    cleanUp(async () => {
      this.client.disconnect();
      await this.#app.kill();
      await this.#app.discard();
    });
  }

  static async start(options: ProcessOptions): Promise<RedisProcess> {
    const port = await freePort();
    const dir = join(options.folder, String(port));
    mkdirSync(dir, { recursive: true });
    const file = join(dir, 'redis.conf');
    const common =
      options.sentinel === true ? [] : ['appendonly yes', 'save ""', 'maxmemory-policy noeviction'];
    const lines = [`dir ${dir}`, 'bind 127.0.0.1', `port ${port}`, ...common, ...options.config(port)];
    writeFileSync(file, `${lines.join('\n')}\n`);
    const command = options.program ?? (await redisProgram());
    const args = options.sentinel === true ? [file, '--sentinel'] : [file];
    const launch = (): App => new App({ name: `redis-${port}`, command, args, env: {} });
    const started = new RedisProcess(port, launch, options.as ?? {});
    await started.ready();
    return started;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  async ready(): Promise<void> {
    const answers = async (): Promise<boolean> => (await this.client.ping()) === 'PONG';
    await eventually(answers, { what: `Redis to answer on port ${this.port}` });
  }

  async kill(): Promise<void> {
    await this.#app.kill();
    await this.#app.discard();
  }

  /** Same port, data and configuration file. */
  async restart(): Promise<void> {
    await this.kill();
    this.#app = this.#launch();
    await this.ready();
  }
}

async function redisProgram(): Promise<string> {
  const source = await ensureRedis({ log: () => undefined });
  if (source.kind === 'program') return source.path;
  throw new Error('expected a redis-server on this machine: its forms cannot be started as containers here');
}
