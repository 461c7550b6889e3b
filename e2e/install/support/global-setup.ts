import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startCluster } from '../../../tools/cluster/src/cluster.ts';
import { ensureRedis } from '../../../tools/cluster/src/build/redis-install.ts';
import { ensureValkey } from '../../../tools/cluster/src/build/valkey-install.ts';
import { Kubelet } from '../../../tools/kubelet/src/kubelet.ts';
import { ADMISSION_ARGS } from '../../../tools/kubelet/src/node.ts';
import { rerollImages } from '../../../tools/kubelet/src/reroll-images.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the cluster that all spec files of this project share. */
    installCluster: string;
    /** Of the kubelet that runs the pods of releases. */
    installKubelet: string;
  }
}

const log = (line: string): void => console.error(line);

/** One control plane with an audit log, where RBAC and ServiceAccounts hold, and a kubelet for releases. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), 'reroll-install-'));
  const redis = await ensureRedis({ log });
  if (redis.kind !== 'program') throw new Error('expected redis-server as a program of this machine');
  const cluster = await startCluster({
    dir,
    audit: true,
    serviceAccountAdmission: true,
    // As on servers before 1.32, and as operators may choose: lists come in pages.
    featureGates: 'WatchList=false',
    apiServerArgs: ADMISSION_ARGS,
  });
  try {
    const kubelet = await Kubelet.start({
      kubeconfig: cluster.kubeconfig,
      images: rerollImages({ redis: redis.path, valkey: await ensureValkey() }),
      nodes: ['kubelet-0', 'kubelet-1'],
      backoffMs: 2_000,
      log,
    });
    project.provide('installCluster', dir);
    project.provide('installKubelet', kubelet.folder);
    return async () => {
      await kubelet.stop();
      await cluster.stop();
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
