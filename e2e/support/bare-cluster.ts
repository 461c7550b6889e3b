import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startCluster } from '../../tools/cluster/src/cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the cluster of the project `adapters`, `faults` or `hostile`. */
    bareCluster: string;
  }
}

/**
 * One control plane for the whole project, whose parts a spec may end and start again. No controllers, so that
 * nobody but Reroll writes to workloads, and what is measured is Reroll; there are no pods.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), `reroll-${project.name}-`));
  const cluster = await startCluster({ dir, nodes: 0, controllerManager: false, scheduler: false });
  project.provide('bareCluster', dir);
  return () => cluster.stop();
}
