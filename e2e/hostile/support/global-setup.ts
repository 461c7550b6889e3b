import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startCluster } from '../../../tools/cluster/src/cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the cluster in which one tenant does its worst. */
    hostileCluster: string;
  }
}

/** Without controllers: what is measured is Reroll, not what they do about the attacks. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), 'reroll-hostile-'));
  const cluster = await startCluster({ dir, nodes: 0, controllerManager: false, scheduler: false });
  project.provide('hostileCluster', dir);
  return () => cluster.stop();
}
