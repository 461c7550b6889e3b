import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startCluster } from '../../../tools/cluster/src/cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the cluster that the specs of this project break and mend. */
    faultsCluster: string;
  }
}

/**
 * One control plane for the whole project: a spec ends its parts and starts them again. No controllers, so
 * that nobody but Reroll writes to workloads; they have no pods.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), 'reroll-faults-'));
  const cluster = await startCluster({ dir, nodes: 0, controllerManager: false, scheduler: false });
  project.provide('faultsCluster', dir);
  return () => cluster.stop();
}
