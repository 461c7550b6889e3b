import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureProgram } from '../../../tools/cluster/src/build/build-program.ts';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { cleanUp } from '../../support/cleanup.ts';

/** As etcd's documentation has it. */
const BUMP = 1_000_000_000;

/** While kube-apiserver and etcd have ended; both run again when it resolves. */
async function whileDown(
  cluster: Cluster,
  etcdEndsBy: 'SIGTERM' | 'SIGKILL',
  work: () => void,
): Promise<void> {
  await cluster.kill('apiserver', 'SIGKILL');
  await cluster.kill('etcd', etcdEndsBy);
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
    // An etcd that is killed has a part of its data in the log alone.
    await whileDown(cluster, 'SIGTERM', () => cpSync(join(cluster.dir, 'etcd'), copy, { recursive: true }));
    return new EtcdBackup(cluster, copy);
  }

  /** Puts it back. The revision of etcd goes back with it. */
  async restore(): Promise<void> {
    await this.#replaceBy((data) => cpSync(this.#copy, data, { recursive: true }));
  }

  /** The same with a revision above all that were used, as `etcdutl` does it: objects keep their resourceVersions. */
  async restoreWithBump(): Promise<void> {
    const etcdutl = await ensureProgram('etcdutl', { log: console.log });
    const database = join(this.#copy, 'member', 'snap', 'db');
    await this.#replaceBy((data) => void execFileSync(etcdutl, [database, data, String(BUMP)]));
  }

  async #replaceBy(make: (data: string) => void): Promise<void> {
    const data = join(this.#cluster.dir, 'etcd');
    await whileDown(this.#cluster, 'SIGKILL', () => {
      rmSync(data, { recursive: true });
      make(data);
    });
  }
}
