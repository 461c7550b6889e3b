import { existsSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { waitUntil } from '../../cluster/src/wait.ts';
import { finished, succeed } from './pods/exec.ts';
import { folderOf, isDead, runOf } from './run-name.ts';

const NAMESPACES = '/run/netns';

/** Ends every process in the namespaces of a run, and removes those and its folder. Safe to repeat. */
export async function removeRun(run: string, ip = 'ip'): Promise<void> {
  const mine = list(NAMESPACES).filter((name) => runOf(name) === run);
  await Promise.all(mine.map((name) => removeNamespace(name, ip)));
  rmSync(folderOf(run), { recursive: true, force: true });
}

/** Ends what is in a network namespace, and removes it with its interfaces. */
export async function removeNamespace(name: string, ip = 'ip'): Promise<void> {
  if (!existsSync(`${NAMESPACES}/${name}`)) return;
  const isEmpty = async (): Promise<boolean> => {
    const pids = (await finished(ip, ['netns', 'pids', name])).stdout.split('\n').filter(Boolean);
    for (const pid of pids) kill(Number(pid));
    return pids.length === 0;
  };
  await waitUntil(isEmpty, { what: `the processes in ${name} to end`, timeoutMs: 10_000 });
  await succeed(ip, ['netns', 'delete', name]);
}

/** Removes what kubelets left whose process died with its watchdog. */
export async function removeDeadRuns(ip = 'ip'): Promise<void> {
  const names = [...list(NAMESPACES), ...list(tmpdir())].map(runOf);
  const runs = new Set(names.filter((name) => name !== undefined));
  for (const run of runs) if (isDead(run)) await removeRun(run, ip);
}

function list(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
