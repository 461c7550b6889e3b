import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Identity, identify, isAlive } from '../../cluster/src/identity.ts';

/** Begins every network namespace and folder that a kubelet makes; its process and that one's start time follow. */
const PREFIX = 'reroll-kubelet';
const NAME = new RegExp(`^${PREFIX}-(\\d+)-([^-]+)-(\\d+)`);

let runs = 0;

/** A name for a run of a kubelet in this process, which tells to all whether that process still lives. */
export function newRunName(): string {
  runs += 1;
  const { pid, started } = identify(process.pid);
  return `${PREFIX}-${pid}-${started}-${runs}`;
}

/** The run that a namespace or folder belongs to; undefined when it is nobody's of ours. */
export function runOf(name: string): string | undefined {
  return NAME.exec(name)?.[0];
}

/** Whether the process of a run has ended. */
export function isDead(run: string): boolean {
  const [, pid = '', started = ''] = NAME.exec(run) ?? [];
  const owner: Identity = { pid: Number(pid), started };
  return !isAlive(owner);
}

/** Everything that a run writes is below it. */
export function folderOf(run: string): string {
  return join(tmpdir(), run);
}
