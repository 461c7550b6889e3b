import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { ensureNodePrograms } from '../build/build-kube-node.ts';
import type { Cluster } from '../cluster.ts';
import { ClusterError } from '../errors.ts';
import { run } from '../run.ts';
import { PAUSE, placeOf } from './place.ts';

/** An image in a file. */
export interface ImageArchive {
  readonly file: string;
  /** By which pods know it; the first one is in the file. */
  readonly names: readonly string[];
}

/** Where images go: a containerd and its client. */
export interface ImageStore {
  readonly ctr: string;
  readonly socket: string;
}

/**
 * Brings images to the real node of a cluster.
 * @throws ClusterError with what ctr said.
 */
export async function importImages(cluster: Cluster, images: readonly ImageArchive[]): Promise<void> {
  const { folder } = await ensureNodePrograms({ log: () => undefined });
  const { socket } = placeOf(cluster.dir, cluster.ports.apiserver ?? 0);
  for (const image of images) await importImage({ ctr: join(folder, 'ctr'), socket }, image);
}

async function importImage(store: ImageStore, { file, names }: ImageArchive): Promise<void> {
  await ctr(store, ['import', '--local', '--all-platforms', file]);
  const [own = '', ...others] = names;
  for (const other of others) await ctr(store, ['tag', '--force', own, other]);
}

async function ctr({ ctr, socket }: ImageStore, args: readonly string[]): Promise<void> {
  const { code, tail } = await run(ctr, [`--address=${socket}`, '--namespace=k8s.io', 'images', ...args]);
  if (code !== 0) throw new ClusterError(`\`ctr images ${args[0]}\` ended with code ${code}:\n${tail}`);
}

/** The image of a pod's sandbox, which has one program that waits. */
export async function importPause(store: ImageStore, pause: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-pause-'));
  const write = (name: string, content: unknown): void =>
    writeFileSync(join(folder, name), JSON.stringify(content));
  try {
    await tar(folder, 'layer.tar', ['--directory', dirname(pause), basename(pause)]);
    const layer = createHash('sha256')
      .update(readFileSync(join(folder, 'layer.tar')))
      .digest('hex');
    write('config.json', {
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Entrypoint: ['/pause'], User: '65535:65535' },
      rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
    });
    write('manifest.json', [{ Config: 'config.json', RepoTags: [PAUSE], Layers: ['layer.tar'] }]);
    await tar(folder, 'image.tar', ['manifest.json', 'config.json', 'layer.tar']);
    await importImage(store, { file: join(folder, 'image.tar'), names: [PAUSE] });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function tar(folder: string, name: string, what: readonly string[]): Promise<void> {
  const { code, tail } = await run('tar', ['--create', `--file=${name}`, ...what], { cwd: folder });
  if (code !== 0) throw new ClusterError(`\`tar\` ended with code ${code}:\n${tail}`);
}
