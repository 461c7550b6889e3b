import { type Command, USAGE, parseCommand } from './arguments.ts';
import { type ClusterOptions, clusterStatus, startCluster, stopCluster } from './cluster.ts';
import { useCurrent } from './current.ts';
import { ClusterError, UsageError, messageOf } from './errors.ts';

/** Where a command writes, and what ends it. */
export interface Terminal {
  /** Results only: a caller may evaluate them. */
  readonly out: (text: string) => void;
  /** Progress and errors. */
  readonly err: (text: string) => void;
  readonly signal: AbortSignal;
}

/** 2 for bad arguments, 3 when `status` finds something stopped, 130 when interrupted. */
export type ExitCode = 0 | 1 | 2 | 3 | 130;

/** Runs one command line to its end; every failure ends up as a message and an exit code. */
export async function runCommand(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    return await execute(parseCommand(argv), terminal);
  } catch (error) {
    return report(error, terminal);
  }
}

async function execute(command: Command, terminal: Terminal): Promise<ExitCode> {
  if (command.name === 'start') return await start(command.options, terminal);
  if (command.name === 'use-current') return await showCurrent(terminal);
  if (command.name === 'stop') return await stop(command.dir, terminal);
  if (command.name === 'status') return status(command.dir, terminal);
  terminal.out(USAGE);
  return 0;
}

async function showCurrent(terminal: Terminal): Promise<ExitCode> {
  const { kubeconfig, redisUrl } = await useCurrent();
  terminal.out(`KUBECONFIG=${kubeconfig}\nREDIS_URL=${redisUrl}\n`);
  return 0;
}

async function stop(dir: string, terminal: Terminal): Promise<ExitCode> {
  const stopped = await stopCluster(dir);
  terminal.err(stopped ? `stopped the cluster in ${dir}\n` : `nothing to stop in ${dir}\n`);
  return 0;
}

async function start(options: ClusterOptions, terminal: Terminal): Promise<ExitCode> {
  const began = performance.now();
  const log = (line: string): void => terminal.err(`${line}\n`);
  const cluster = await startCluster({ ...options, log, signal: terminal.signal });
  log(`started in ${((performance.now() - began) / 1000).toFixed(1)} s: ${cluster.dir}`);
  terminal.out(`KUBECONFIG=${cluster.kubeconfig}\n`);
  if (cluster.redisUrl !== undefined) terminal.out(`REDIS_URL=${cluster.redisUrl}\n`);
  return 0;
}

function status(dir: string, terminal: Terminal): ExitCode {
  const components = clusterStatus(dir);
  if (components.length === 0) terminal.out(`nothing was started in ${dir}\n`);
  for (const { name, running, pid, port } of components) {
    terminal.out(`${name.padEnd(18)} ${running ? 'running' : 'stopped'}  pid ${pid}  port ${port}\n`);
  }
  return components.length > 0 && components.every(({ running }) => running) ? 0 : 3;
}

function report(error: unknown, { err, signal }: Terminal): ExitCode {
  if (signal.aborted) {
    err('interrupted: everything that was started is stopped\n');
    return 130;
  }
  if (error instanceof UsageError) {
    err(`${error.problems.join('\n')}\n\n${USAGE}`);
    return 2;
  }
  // Anything but a ClusterError is a fault of this tool: show where.
  const stack = error instanceof Error && !(error instanceof ClusterError) ? error.stack : undefined;
  err(`${stack ?? messageOf(error)}\n`);
  return 1;
}
