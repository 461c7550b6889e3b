import { existsSync, globSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClusterError } from '../../../cluster/src/errors.ts';

/** Memory as the kernel counts it, of a group of processes such as a container; for either version of cgroups. */
const ROOT = '/sys/fs/cgroup';
/** Version 1 has a tree for each controller. */
const MEMORY = existsSync(join(ROOT, 'memory')) ? join(ROOT, 'memory') : ROOT;
const IS_VERSION_2 = MEMORY === ROOT;

/** The folders of containers below a cgroup, by the ids of these. */
export function containersBelow(cgroup: string): ReadonlyMap<string, string> {
  const found = globSync(join(MEMORY, cgroup, '**', '[0-9a-f]*'));
  const ids = found.map((folder) => [folder.slice(folder.lastIndexOf('/') + 1), folder] as const);
  return new Map(ids.filter(([id]) => /^[0-9a-f]{64}$/u.test(id)));
}

/** What a kubelet calls the working set, in bytes: without the pages of files that nobody has used for long. */
export function workingSet(folder: string): number {
  const used = numberIn(folder, IS_VERSION_2 ? 'memory.current' : 'memory.usage_in_bytes');
  return used - statistic(folder, IS_VERSION_2 ? 'inactive_file' : 'total_inactive_file');
}

/** In bytes: what the kernel cannot take back, unlike pages of files. It kills when there is no room for it. */
export function anonymousMemory(folder: string): number {
  return statistic(folder, IS_VERSION_2 ? 'anon' : 'total_rss');
}

/** In bytes; infinite without a limit. */
export function limitOf(folder: string): number {
  const limit = numberIn(folder, IS_VERSION_2 ? 'memory.max' : 'memory.limit_in_bytes');
  return Number.isNaN(limit) || limit > 2 ** 60 ? Number.POSITIVE_INFINITY : limit;
}

function numberIn(folder: string, file: string): number {
  return Number(readFileSync(join(folder, file), 'utf8'));
}

function statistic(folder: string, name: string): number {
  const [, value] =
    new RegExp(`^${name} (\\d+)$`, 'mu').exec(readFileSync(join(folder, 'memory.stat'), 'utf8')) ?? [];
  if (value === undefined) throw new ClusterError(`expected ${name} in memory.stat of ${folder}, found none`);
  return Number(value);
}

/** A group with a limit, for one process. Needs root. */
export interface LimitedGroup {
  readonly folder: string;
  /** The command line that runs another one in the group from its beginning. */
  wrap(command: readonly string[]): { readonly command: string; readonly args: readonly string[] };
  /** Its processes must have ended. */
  remove(): void;
}

export function limitedGroup(name: string, bytes: number): LimitedGroup {
  const folder = join(MEMORY, name);
  if (IS_VERSION_2) writeFileSync(join(ROOT, 'cgroup.subtree_control'), '+memory');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, IS_VERSION_2 ? 'memory.max' : 'memory.limit_in_bytes'), String(bytes));
  return {
    folder,
    wrap: (command) => ({
      command: 'sh',
      args: ['-c', 'echo $$ > "$0" && exec "$@"', join(folder, 'cgroup.procs'), ...command],
    }),
    remove: () => rmdirSync(folder),
  };
}
