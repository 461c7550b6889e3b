import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
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

/** Makes a folder of the cache unless it is there; processes that ask at once make it once. Returns the folder. */
export async function makeOnce({ folder, what, log, signal, make }: Making): Promise<string> {
  if (existsSync(folder)) return folder;
  const onWait = ({ pid }: { pid: number }): void => {
    if (what !== undefined) log?.(`process ${pid} ${what}: waiting for it`);
  };
  await withLock({ path: `${folder}.lock`, signal, onWait }, async () => {
    if (existsSync(folder)) return;
    const draft = `${folder}.building`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { recursive: true });
    try {
      await make(draft);
      renameSync(draft, folder);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  });
  return folder;
}
