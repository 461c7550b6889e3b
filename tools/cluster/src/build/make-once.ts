import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isRunning } from '../identity.ts';
import { withLock } from '../servers/lock.ts';

export interface Making {
  /** The folder that is made, in `cacheRoot()`: `NAME`, or `NAME-KEY` with a key of 16 hexadecimal digits. */
  readonly folder: string;
  /** Completes the sentence "process N …: waiting for it"; without it nothing is said. */
  readonly what?: string;
  readonly log?: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  /** Writes all that the folder shall hold into the empty folder `draft`, which takes its place when this has succeeded. */
  readonly make: (draft: string) => Promise<void>;
}

/** A folder with another key that nobody has used for so long is removed. */
const KEPT_UNUSED_MS = 28 * 24 * 60 * 60_000;

const KEYED = /-[0-9a-f]{16}$/;
const DRAFT = /\.building-(\d+)$/;

/** Makes a folder of the cache unless it is there; processes that ask at once make it once. Returns the folder. */
export async function makeOnce({ folder, what, log, signal, make }: Making): Promise<string> {
  if (existsSync(folder)) return touch(folder);
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

function touch(folder: string): string {
  try {
    utimesSync(folder, new Date(), new Date());
  } catch {
    // It is another user's, who keeps it as well.
  }
  return folder;
}

/** Removes drafts of processes that are gone, and what was made with other keys and is not used any more. */
function removeStale(folder: string): void {
  const root = dirname(folder);
  const nameOf = (each: string): string => basename(each).replace(DRAFT, '').replace(KEYED, '');
  const own = readdirSync(root).filter((each) => nameOf(each) === nameOf(folder));
  for (const each of own) {
    const path = join(root, each);
    const maker = DRAFT.exec(each)?.[1];
    const isStale = maker === undefined ? KEYED.test(each) && isUnused(path) : !isRunning(Number(maker));
    if (isStale) rmSync(path, { recursive: true, force: true });
  }
}

function isUnused(path: string): boolean {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > KEPT_UNUSED_MS;
}
