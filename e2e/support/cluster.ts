import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import {
  attachCluster,
  startCluster,
  type Cluster,
  type ClusterOptions,
} from '../../tools/cluster/src/cluster.ts';
import { cleanUp } from './cleanup.ts';

/** The cluster that `global-setup.ts` started; nobody may kill a part of it. */
export function sharedCluster(): Cluster {
  return attachCluster(inject('sharedCluster'));
}

/** A cluster to break; it ends with the test, or with the file if it was started outside of one. */
export async function startOwnCluster(options: Partial<ClusterOptions> = {}): Promise<Cluster> {
  const dir = mkdtempSync(join(tmpdir(), 'reroll-e2e-'));
  const cluster = await startCluster({ audit: true, log: () => undefined, ...options, dir });
  cleanUp(() => cluster.stop());
  return cluster;
}
