import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the system tells of a process. */
export interface Usage {
  /** User and system time since it started. */
  readonly cpuSeconds: number;
  readonly residentMb: number;
  /** The most it ever was. */
  readonly peakMb: number;
}

/** USER_HZ is 100 on every Linux that Node.js runs on. */
const TICKS_PER_SECOND = 100;

/** Undefined when there is no such process, or the system has no /proc. */
export function usageOf(pid: number): Usage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return parseUsage(stat, status);
  } catch {
    return undefined;
  }
}

export function parseUsage(stat: string, status: string): Usage {
  // The command in field 2 may hold spaces and parentheses, so count fields from the last ')'.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return {
    cpuSeconds: ticks / TICKS_PER_SECOND,
    residentMb: megabytes(status, 'VmRSS'),
    peakMb: megabytes(status, 'VmHWM'),
  };
}

/** Of 1,000,000 bytes. */
function megabytes(status: string, field: string): number {
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  return kibibytes === undefined ? Number.NaN : (Number(kibibytes) * 1024) / 1e6;
}

const SETTLED_AFTER_MS = 10_000;

/** Waits until Node.js processes that have just started have given back to the system what only their start needed. */
export async function untilMemoryIsSettled(signal: AbortSignal): Promise<void> {
  await sleep(SETTLED_AFTER_MS, undefined, { signal });
}

/** A process by the name that tables show. */
export interface NamedProcess {
  readonly name: string;
  readonly pid: number;
}

/** What one process used in a run. */
export interface ProcessFigures extends Usage {
  readonly name: string;
}

/** Time that all cores together were busy since the machine started, time stolen by its host included. */
export function parseBusySeconds(stat: string): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (stat.split('\n')[0] ?? '')
    .split(/ +/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND;
}
