import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { waitUntil } from './wait.ts';

/** One run of one process. A pid alone is not enough: the system gives it to another process later. */
export interface Identity {
  readonly pid: number;
  /** When the process started, as the system tells it: only good for comparing. */
  readonly started: string;
}

/** How long a process that was sent SIGKILL may take to be gone. */
const GONE_WITHIN_MS = 10_000;

const hasProc = existsSync('/proc/self/stat');

/** The start time of a live process; undefined when there is none, or only its zombie. */
function startTime(pid: number): string | undefined {
  try {
    return hasProc ? fromProc(pid) : fromPs(pid);
  } catch {
    return undefined;
  }
}

function fromProc(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The command in field 2 may hold spaces and parentheses, so count fields from the last ')'.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, threads, started] = [fields[0], Number(fields[17]), fields[19]];
  // The first thread of a killed process may be a zombie while others still hold its port open.
  const gone = state === 'X' || (state === 'Z' && threads <= 1);
  return gone ? undefined : started;
}

function fromPs(pid: number): string | undefined {
  const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
}

/** Who runs under this pid now. A process that is gone already gets a start time that matches nothing. */
export function identify(pid: number): Identity {
  return { pid, started: startTime(pid) ?? 'gone' };
}

/** Whether any process runs under this pid. */
export function isRunning(pid: number): boolean {
  return startTime(pid) !== undefined;
}

/** Whether that very process still runs. */
export function isAlive(identity: Identity): boolean {
  return startTime(identity.pid) === identity.started;
}

/** Sends a signal to the process and to its group, if it still is the same process. */
export function sendSignal(identity: Identity, signal: NodeJS.Signals): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(-identity.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Resolves when the process is gone.
 * @throws ClusterError when it is still there after 10 seconds.
 */
export async function waitGone(identity: Identity): Promise<void> {
  await waitUntil(() => !isAlive(identity), {
    what: `process ${identity.pid} to end`,
    timeoutMs: GONE_WITHIN_MS,
  });
}
