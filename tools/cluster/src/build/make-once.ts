import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { withLock } from '../servers/lock.ts';

export interface Making {
  /** The folder that is made, in `cacheRoot()`. */
  readonly folder: string;
  /** Completes the sentence "process N …: waiting for it"; without it nothing is said. */
  readonly what?: string;
  readonly log?: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  /** Writes all that the folder shall hold into the empty folder `draft`, which takes its place when this has succeeded. */
  readonly make: (draft: string) => Promise<void>;
}

const DRAFT = /\.building-(\d+)$/;

/** Makes a folder of the cache unless it is there; processes that ask at once make it once. Returns the folder. */
export async function makeOnce({ folder, what, log, signal, make }: Making): Promise<string> {
  if (existsSync(folder)) return folder;
  const onWait = ({ pid }: { pid: number }): void => {
    if (what !== undefined) log?.(`process ${pid} ${what}: waiting for it`);
  };
  await withLock({ path: `${folder}.lock`, signal, onWait }, async () => {
    if (existsSync(folder)) return;
    removeStale(folder);
    const draft = `${folder}.building-${process.pid}`;
    mkdirSync(draft, { recursive: true });
    try {
      await make(draft);
      // Two may make it at once: see `withLock`.
      if (!existsSync(folder)) renameSync(draft, folder);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  });
  return folder;
}

/** Removes drafts of processes that are gone. */
function removeStale(folder: string): void {
  const root = dirname(folder);
  for (const each of readdirSync(root))
    if (each.replace(DRAFT, '') === basename(folder) && isOfDead(each))
      rmSync(join(root, each), { recursive: true, force: true });
}

function isOfDead(draft: string): boolean {
  const pid = Number(DRAFT.exec(draft)?.[1] ?? process.pid);
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
