import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RotatedFile } from '@reroll/redis/connection/rotated-file';
import { ensureRedis } from '../../cluster/src/build/redis-install.ts';
import { run } from '../../cluster/src/run.ts';
import { at, workload } from '../look.ts';
import { manifestsWith, type ChartValues } from '../render.ts';

/** One password for all. */
const ONE: ChartValues = { redis: { auth: { existingSecret: 'mine' } } };
/** A user for each component. */
const USERS: ChartValues = {};
const COMPONENTS = ['watcher', 'worker', 'admin'] as const;

/** The container's commands, with a folder of this machine for /etc and a socket for the port. */
class Container {
  readonly #folder: string;
  readonly #values: ChartValues;
  readonly #env: Readonly<Record<string, string>>;
  #server: ChildProcess | undefined;

  constructor(folder: string, program: string, values: ChartValues) {
    this.#folder = folder;
    this.#values = values;
    this.#env = { PATH: `${dirname(program)}:${process.env['PATH'] ?? ''}` };
    writeFileSync(join(folder, 'redis.conf'), `port 0\nsave ""\ndir ${folder}\nunixsocket ${this.socket}\n`);
  }

  get socket(): string {
    return join(this.#folder, 'redis.sock');
  }

  passwordFile(name = 'password'): string {
    return join(this.#folder, name);
  }

  async command(path: string): Promise<[string, ...string[]]> {
    const { container } = workload(await manifestsWith(this.#values), 'redis');
    const [program = '', ...args] = (at(container, path) as readonly string[]).map((each) =>
      each
        .replaceAll('/etc/reroll/redis/', `${this.#folder}/`)
        .replaceAll('/etc/redis/', `${this.#folder}/`)
        .replaceAll('redis-cli', `redis-cli -s ${this.socket}`),
    );
    return [program, ...args];
  }

  async start(): Promise<ChildProcess> {
    const [program, ...args] = await this.command('command');
    this.#server = spawn(program, args, { env: this.#env, stdio: ['ignore', 'ignore', 'pipe'] });
    return this.#server;
  }

  async probe(which: 'startupProbe' | 'readinessProbe'): Promise<boolean> {
    const [program, ...args] = await this.command(`${which}.exec.command`);
    return (await run(program, args, { env: this.#env })).code === 0;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined || server.exitCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  }
}

/** What means something to a shell or to redis.conf. */
const SPECIAL = String.raw`a "b" 'c' \d \\ $HOME $(id) #e;`;

describe('the Redis of the chart', () => {
  let folder: string;
  let program: string;
  let container: Container;
  const clients: Redis[] = [];
  beforeEach(async () => {
    const source = await ensureRedis({ log: console.log });
    if (source.kind === 'image') throw new Error('expected a redis-server on this machine');
    program = source.path;
    folder = mkdtempSync(join(tmpdir(), 'reroll-redis-password-'));
    container = new Container(folder, program, ONE);
  });
  const connect = (as: { username?: string; password: string }): Redis => {
    const retryStrategy = (): number => 50;
    const client = new Redis({ path: container.socket, ...as, retryStrategy, maxRetriesPerRequest: null });
    clients.push(client);
    client.on('error', () => undefined);
    return client;
  };
  afterEach(async () => {
    for (const client of clients.splice(0)) client.disconnect();
    await container.stop();
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['as it is made', 'abcDEF123'],
    ['with a newline at its end', 'secret\n'],
    ['with newlines of Windows at its end', 'secret\r\n\r\n'],
    ['with what means something to a shell or to redis.conf', SPECIAL],
  ])('with one password %s takes what those who connect read from the same file', async (_how, text) => {
    writeFileSync(container.passwordFile(), text);
    expect(await container.probe('startupProbe')).toBe(false);
    await container.start();
    const password = new RotatedFile(container.passwordFile()).readLine() ?? '';
    const client = connect({ password });
    expect(await client.ping()).toBe('PONG');
    expect(await client.config('GET', 'requirepass')).toEqual(['requirepass', password]);
    expect(await container.probe('startupProbe')).toBe(true);
    writeFileSync(container.passwordFile(), 'changed');
    expect(await container.probe('readinessProbe')).toBe(true);
  });

  it('with a user for each component lets each in by its own password only, and nobody without one', async () => {
    container = new Container(folder, program, USERS);
    const texts = { watcher: 'abcDEF123\n', worker: SPECIAL, admin: `${SPECIAL}\r\n` };
    for (const component of COMPONENTS) writeFileSync(container.passwordFile(component), texts[component]);
    expect(await container.probe('startupProbe')).toBe(false);
    await container.start();
    for (const component of COMPONENTS) {
      const password = new RotatedFile(container.passwordFile(component)).readLine() ?? '';
      const client = connect({ username: `reroll-${component}`, password });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await client.ping()).toBe('PONG');
      // oxlint-disable-next-line no-await-in-loop -- the same
      expect(await client.call('ACL', 'WHOAMI').catch(String)).toContain('NOPERM');
    }
    const asked = async (...as: readonly string[]): Promise<string> =>
      (await run('redis-cli', ['-s', container.socket, ...as, 'get', 'a'])).tail;
    expect(await asked()).toContain('NOAUTH');
    expect(await asked('--user', 'reroll-admin', '--pass', 'abcDEF123')).toContain('WRONGPASS');
    expect(await container.probe('startupProbe')).toBe(true);
    writeFileSync(container.passwordFile('watcher'), 'changed');
    expect(await container.probe('readinessProbe')).toBe(true);
  });

  it.each([
    ['none', ''],
    ['an empty line', '\n'],
    ['two lines', 'secret\nsecret\n'],
  ])('ends and says so where a password is %s, without telling it', async (_what, text) => {
    container = new Container(folder, program, USERS);
    writeFileSync(container.passwordFile('watcher'), 'secret');
    writeFileSync(container.passwordFile('worker'), text);
    const server = await container.start();
    const said: string[] = [];
    server.stderr?.on('data', (chunk: Buffer) => said.push(chunk.toString()));
    expect(await once(server, 'close')).toEqual([1, null]);
    expect(said.join('')).toBe(
      `expected a password in one line in ${folder}/worker, given none or several\n`,
    );
  });

  it('is told no password by an argument or a variable', async () => {
    const { container: redis } = workload(await manifestsWith(), 'redis');
    expect(at(redis, 'args')).toBeUndefined();
    expect(at(redis, 'env')).toBeUndefined();
    expect(at(redis, 'envFrom')).toBeUndefined();
  });
});
