import { globSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../wait.ts';
import type { Place } from './place.ts';

const ROOT = '/sys/fs/cgroup';

/** Removes the cgroups of a node that was killed, once the last process in them is gone. */
export async function removeCgroups({ cgroup }: Place): Promise<void> {
  // One below each controller; with version 2 there is one in all.
  const found = (): string[] => globSync([join(ROOT, cgroup, '**/'), join(ROOT, '*', cgroup, '**/')]);
  await waitUntil(
    () => {
      // The inner ones first.
      for (const folder of found().sort().reverse()) remove(folder);
      return found().length === 0;
    },
    { what: `the cgroups of ${cgroup} to be empty`, timeoutMs: 20_000, everyMs: 100 },
  );
}

function remove(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EBUSY' && code !== 'ENOENT') throw error;
  }
}
