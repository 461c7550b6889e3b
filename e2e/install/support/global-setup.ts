import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startCluster } from '../../../tools/cluster/src/cluster.ts';
import { ADMISSION_ARGS } from '../../../tools/cluster/src/node/place.ts';
import { bringImages } from './images.ts';
import { keepPodLogs } from './pod-logs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the cluster that all spec files of this project share. */
    installCluster: string;
  }
}

const KEEP_LOGS_EVERY_MS = 250;

/** One control plane with an audit log, where RBAC and ServiceAccounts hold, and a real node for releases. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster({
    dir: mkdtempSync(join(tmpdir(), 'reroll-install-')),
    realNodes: 1,
    audit: true,
    // As on servers before 1.32, and as operators may choose: lists come in pages.
    featureGates: 'WatchList=false',
    apiServerArgs: ADMISSION_ARGS,
  });
  const timer = setInterval(() => keepPodLogs(cluster), KEEP_LOGS_EVERY_MS);
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    await cluster.stop();
  };
  try {
    await bringImages(cluster, (line) => console.error(line));
    project.provide('installCluster', cluster.dir);
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}
