import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startCluster } from '../../tools/cluster/src/cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the cluster that all spec files of the project share. */
    sharedCluster: string;
  }
}

/** One control plane with an audit log for the whole project; it ends with this process at the latest. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), 'reroll-e2e-'));
  const cluster = await startCluster({ dir, audit: true });
  project.provide('sharedCluster', dir);
  return () => cluster.stop();
}
