import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, startCluster } from '../../cluster/src/cluster.ts';
import { Api } from './api.ts';
import type { Bench } from './bench.ts';
import type { BenchOptions } from './options.ts';
import type { Scenario } from './scenarios.ts';
import { createWorkSet } from './work-set.ts';

/** Where progress goes, and what ends it all. */
export interface Io {
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Scenarios that share a cluster, in their order. */
export function groups(scenarios: readonly Scenario[]): Scenario[][] {
  const byCluster = Map.groupBy(scenarios, ({ cluster }) => cluster);
  return [...byCluster.values()];
}

export interface ClusterNeeds {
  readonly options: BenchOptions;
  readonly controllerManager: boolean;
}

/** Starts a cluster with the canary in it, does the work, and removes it in any case. */
export async function withBench<T>(
  needs: ClusterNeeds,
  io: Io,
  work: (bench: Bench) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'reroll-bench-'));
  const open: { cluster?: Cluster; api?: Api } = {};
  try {
    open.cluster = await startCluster({
      dir: join(dir, 'cluster'),
      controllerManager: needs.controllerManager,
      ...io,
    });
    open.api = new Api(open.cluster.kubeconfig);
    return await work(await benchOf({ ...needs, ...io, dir }, open.cluster, open.api));
  } finally {
    await open.api?.close();
    await open.cluster?.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function benchOf(by: ClusterNeeds & Io & { dir: string }, cluster: Cluster, api: Api): Promise<Bench> {
  const { options, dir, log, signal } = by;
  const generations = new Map<string, number>();
  const markers = new Map<string, string>();
  const bench = { options, cluster, dir, api, generations, markers, workSets: new Map(), log, signal };
  const canary = await createWorkSet(bench, { prefix: 'canary', workloads: 1, namespaces: 1, sharing: 1 });
  return { ...bench, canary };
}
