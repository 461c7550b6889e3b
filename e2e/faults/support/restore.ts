import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { cleanUp } from '../../support/cleanup.ts';
import type { Reroll } from '../../support/reroll.ts';

/** While kube-apiserver and etcd are killed; both run again when it resolves. */
async function whileDown(cluster: Cluster, work: () => void): Promise<void> {
  await cluster.kill('apiserver', 'SIGKILL');
  await cluster.kill('etcd', 'SIGKILL');
  work();
  await cluster.restart('etcd');
  await cluster.restart('apiserver');
}

/** A copy of etcd's data, as a backup has it. */
export class EtcdBackup {
  readonly #cluster: Cluster;
  readonly #copy: string;

  private constructor(cluster: Cluster, copy: string) {
    this.#cluster = cluster;
    this.#copy = copy;
  }

  static async take(cluster: Cluster): Promise<EtcdBackup> {
    const folder = mkdtempSync(join(tmpdir(), 'reroll-etcd-backup-'));
    cleanUp(() => rmSync(folder, { recursive: true, force: true }));
    const copy = join(folder, 'etcd');
    await whileDown(cluster, () => cpSync(join(cluster.dir, 'etcd'), copy, { recursive: true }));
    return new EtcdBackup(cluster, copy);
  }

  /** Puts it back. The revision of etcd goes back with it. */
  async restore(): Promise<void> {
    const data = join(this.#cluster.dir, 'etcd');
    await whileDown(this.#cluster, () => {
      rmSync(data, { recursive: true });
      cpSync(this.#copy, data, { recursive: true });
    });
  }
}

/** Starts another watcher for each that ends by itself, as a kubelet does, until the test ends. */
export function keepWatchers(reroll: Reroll): { readonly restarts: number } {
  const kept = { restarts: 0 };
  let isOver = false;
  cleanUp(() => {
    isOver = true;
  });
  const keep = async (app: (typeof reroll.watchers)[number]): Promise<void> => {
    await app.exited;
    if (isOver) return;
    kept.restarts += 1;
    void keep(reroll.start('watcher'));
  };
  for (const app of reroll.watchers) if (app.isRunning) void keep(app);
  return kept;
}
