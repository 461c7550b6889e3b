import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { type Server, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { KubeletError } from './errors.ts';
import { joinSockets } from './join-sockets.ts';
import { namespacePath } from './network.ts';
import type { Programs } from './packages.ts';
import type { ProxyRow } from './service-table.ts';

interface Answer {
  readonly id: number;
  readonly error?: string;
}

/** The process in the node's network namespace: it serves the addresses of Services, and lets us into pods. */
export class NodeAgent {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (error?: Error) => void>();
  #sent = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', ({ id, error }: Answer) => {
      this.#waiting.get(id)?.(error === undefined ? undefined : new KubeletError(error));
      this.#waiting.delete(id);
    });
    child.on('exit', () => {
      for (const settle of this.#waiting.values()) settle(new KubeletError('the node agent ended'));
    });
  }

  static async start(options: { folder: string; namespace: string; programs: Programs }): Promise<NodeAgent> {
    const { folder, namespace, programs } = options;
    const log = openSync(join(folder, 'agent.log'), 'a');
    const script = join(import.meta.dirname, 'agent.ts');
    const command = [`--net=${namespacePath(namespace)}`, process.execPath, script, folder, programs.ip];
    const child = spawn(programs.nsenter, command, {
      stdio: ['ignore', log, log, 'ipc'],
      detached: true,
      env: { PATH: process.env['PATH'] },
    });
    closeSync(log);
    const agent = new NodeAgent(child);
    await agent.#answer(0);
    return agent;
  }

  /** What Services lead to from now on. */
  async serve(rows: readonly ProxyRow[]): Promise<void> {
    this.#sent += 1;
    const answer = this.#answer(this.#sent);
    this.#child.send({ id: this.#sent, rows });
    await answer;
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }

  #answer(id: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, (error) => (error === undefined ? resolve() : reject(error)));
    });
  }
}

/** Leads a socket in the file system, which every network namespace can reach, to the API server of this host. */
export async function serveApiServer(path: string, server: string): Promise<Server> {
  const { hostname, port } = new URL(server);
  const door = createServer((client) => {
    const target = connect(Number(port), hostname);
    joinSockets(client, target);
  });
  await new Promise<void>((resolve, reject) => {
    door.once('error', reject);
    door.listen(path, resolve);
  });
  return door;
}
