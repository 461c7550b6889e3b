import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeContainer, signalContainer } from '../container.ts';
import { ClusterError, messageOf } from '../errors.ts';
import { removeFolder } from '../folder.ts';
import { identify, isAlive, sendSignal, waitGone } from '../identity.ts';
import { removeCgroups } from '../node/cgroups.ts';
import { placeOf } from '../node/place.ts';
import { isReady } from './probe.ts';
import {
  type Component,
  type ComponentName,
  type Launch,
  type State,
  readState,
  startedComponents,
  writeState,
} from '../state.ts';
import { waitUntil } from '../wait.ts';

/** Variables that a server may see: settings of the developer's (ETCD_*, KUBECONFIG) must not leak in. */
const PASSED_ON = [
  'PATH',
  'HOME',
  'TMPDIR',
  'XDG_RUNTIME_DIR',
  'DOCKER_HOST',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];
const LOG_LINES = 15;
const GRACE_MS = 5000;

export interface ReadyOptions {
  /** Default 120 000: a start takes seconds, but the machine may be busy. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The processes of one folder. Every change is on disk before the next step, so that whoever reads
 * the state file can stop all of them. Several processes may use a stack, one at a time may change it.
 */
export class Stack {
  #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  /** @throws ClusterError when nothing was started in the folder. */
  static open(dir: string): Stack {
    const state = readState(dir);
    if (state === undefined) throw new ClusterError(`expected a cluster in ${dir}, found no state file`);
    return new Stack(state);
  }

  /** As it is on disk: another process may have restarted a component. */
  get state(): State {
    const written = this.#written();
    if (written !== undefined) this.#state = written;
    return this.#state;
  }

  /** Starts a component, which then is running but perhaps not ready. */
  launch(launch: Launch): void {
    const { dir } = this.state;
    const logFile = join(dir, 'logs', `${launch.name}.log`);
    mkdirSync(join(dir, 'logs'), { recursive: true });
    const server = spawnServer(launch, { dir, logFile });
    const component: Component = { ...launch, ...identify(server.pid), logFile };
    this.#save({ components: { ...this.state.components, [launch.name]: component } });
    server.go();
  }

  /**
   * Resolves when the component answers.
   * @throws ClusterError with the end of its log when it dies first or takes too long.
   */
  async ready(name: ComponentName, options: ReadyOptions = {}): Promise<void> {
    const { timeoutMs = 120_000, signal } = options;
    const component = this.component(name);
    await waitUntil(
      async () => {
        const answered = await isReady(component, this.#state);
        // Looked at after the answer: on a stolen port the answer may be another server's.
        if (!isAlive(component)) throw diedEarly(component);
        return answered;
      },
      { what: `${name} to answer on port ${component.port} (log: ${component.logFile})`, timeoutMs, signal },
    );
  }

  /** @throws ClusterError for a component that this cluster was started without. */
  component(name: ComponentName): Component {
    const component = this.state.components[name];
    if (component === undefined) {
      throw new ClusterError(`expected ${this.#state.dir} to have started ${name}, it did not`);
    }
    return component;
  }

  /** Sends a signal. With SIGKILL and SIGTERM resolves when the process is gone, else at once. */
  async kill(name: ComponentName, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const component = this.component(name);
    if (component.container !== undefined) await signalContainer(component.container, signal);
    else sendSignal(component, signal);
    if (signal === 'SIGKILL' || signal === 'SIGTERM') await waitGone(component);
  }

  /** Ends a component if it runs, starts it with the same port and data, and waits until it answers. */
  async restart(name: ComponentName, options: ReadyOptions = {}): Promise<void> {
    const component = this.component(name);
    if (isAlive(component)) await this.#end(component);
    if (component.container !== undefined) await removeContainer(component.container);
    this.launch(launchOf(component));
    await this.ready(name, options);
  }

  /** Everything that has to be there is there. */
  markReady(): void {
    this.#save({ phase: 'ready' });
  }

  /** Kills everything and removes what was written. Safe to repeat. */
  async remove(): Promise<void> {
    const components = startedComponents(this.state);
    for (const component of components) sendSignal(component, 'SIGKILL');
    await Promise.all(
      components.map(async (component) => {
        if (component.container !== undefined) await removeContainer(component.container);
        await waitGone(component);
      }),
    );
    const { node, apiserver } = this.state.components;
    if (node !== undefined && apiserver !== undefined)
      await removeCgroups(placeOf(this.state.dir, apiserver.port));
    // Only its own: after a stop the folder may belong to the next cluster.
    if (this.#written() !== undefined) removeFolder(this.#state);
  }

  async #end(component: Component): Promise<void> {
    // kube-apiserver lingers on open watches when it is asked politely.
    if (component.name === 'apiserver') return await this.kill(component.name, 'SIGKILL');
    sendSignal(component, 'SIGTERM');
    const what = `${component.name} to end`;
    try {
      await waitUntil(() => !isAlive(component), { what, timeoutMs: GRACE_MS });
    } catch {
      await this.kill(component.name, 'SIGKILL');
    }
  }

  /** The state file, if it still is the one of this stack. */
  #written(): State | undefined {
    const written = readState(this.#state.dir);
    return written?.token === this.#state.token ? written : undefined;
  }

  #save(change: Partial<State>): void {
    this.#state = { ...this.state, ...change };
    writeState(this.#state);
  }
}

function launchOf(component: Component): Launch {
  const { pid: _pid, started: _started, logFile: _logFile, ...launch } = component;
  return launch;
}

/** For programs written in Go. A control plane has a small heap and many requests: collecting less often takes less CPU. */
const FEW_COLLECTIONS = { GOGC: '300' };

/** Becomes the server once it is told to; ends if this process ends before that, so that no server runs that is not on disk. */
const ONCE_TOLD = 'read -r _ && exec "$@" </dev/null';

/** Prepares a server in a session of its own, which Ctrl-C in a terminal does not reach. It begins with `go`. */
function spawnServer(
  launch: Launch,
  place: { dir: string; logFile: string },
): { readonly pid: number; readonly go: () => void } {
  const log = openSync(place.logFile, 'a');
  try {
    const child = spawn('/bin/sh', ['-c', ONCE_TOLD, 'sh', launch.command, ...launch.args], {
      cwd: place.dir,
      env: { ...FEW_COLLECTIONS, ...serverEnvironment(), KWOK_WORKDIR: join(place.dir, 'kwok') },
      stdio: ['pipe', log, log],
      detached: true,
    });
    let failure: unknown;
    child.once('error', (error) => {
      failure = error;
    });
    child.unref();
    const { pid, stdin } = child;
    if (pid === undefined || stdin === null) {
      throw new ClusterError(
        `could not start ${launch.name}: ${launch.command}: ${messageOf(failure ?? 'no such file?')}`,
      );
    }
    // It has ended: whoever waits for it finds that.
    stdin.on('error', () => {});
    return { pid, go: () => void stdin.end('\n') };
  } finally {
    closeSync(log);
  }
}

function serverEnvironment(): Record<string, string> {
  const entries = PASSED_ON.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function diedEarly(component: Component): ClusterError {
  return new ClusterError(
    `expected ${component.name} to stay up on port ${component.port}, it ended; its last lines:\n${lastLines(component.logFile)}`,
  );
}

function lastLines(path: string): string {
  if (!existsSync(path)) return '(no log)';
  return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n');
}
