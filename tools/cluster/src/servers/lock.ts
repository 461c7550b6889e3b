import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Identity, identify, isAlive } from '../identity.ts';
import { waitUntil } from '../wait.ts';

export interface LockOptions {
  /** The lock file; its folder is created. */
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
  /** Called once when another process holds the lock. */
  readonly onWait?: (holder: Identity) => void;
}

/** Longer than any build: a holder that is alive is waited for this long. */
const WAIT_MS = 30 * 60_000;

/**
 * Runs `work` while no other process runs it under the same lock file. The lock of a process that
 * died is taken over. It saves work done twice and is not what keeps a result whole: the work must
 * put its result in place with an atomic rename, for two may take over a dead lock at one time.
 */
export async function withLock<T>(options: LockOptions, work: () => Promise<T>): Promise<T> {
  const { path, signal, onWait } = options;
  mkdirSync(dirname(path), { recursive: true });
  let told = false;
  await waitUntil(
    () => {
      if (take(path)) return true;
      const holder = readHolder(path);
      if (holder === undefined || !isAlive(holder)) {
        discard(path);
        return take(path);
      }
      if (!told) onWait?.(holder);
      told = true;
      return false;
    },
    { what: `the lock ${path}`, timeoutMs: WAIT_MS, everyMs: 200, signal },
  );
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/** Creates the lock with its content in one step, so that nobody ever reads half of it. */
function take(path: string): boolean {
  const draft = ownName(path);
  writeFileSync(draft, JSON.stringify(identify(process.pid)));
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function readHolder(path: string): Identity | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Identity;
  } catch {
    return undefined;
  }
}

function discard(path: string): void {
  const stale = ownName(path);
  try {
    renameSync(path, stale);
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  rmSync(stale, { force: true });
}

function ownName(path: string): string {
  return `${path}.${process.pid}.${crypto.randomUUID()}`;
}
