import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { importImages } from '../../../tools/cluster/src/node/images.ts';
import { rerollImage, serverImages } from '../../../tools/deploy/images/archives.ts';
import { ensureBuildah } from '../../../tools/deploy/images/buildah.ts';
import { chartImage } from '../../../tools/deploy/images/chart-image.ts';

/** The version that stands in for the next release: the same image under another tag. */
export const NEXT = '0.99.0';

/** Builds what the specs install and brings it to the node: there is no registry. */
export async function bringImages(cluster: Cluster, log: (line: string) => void): Promise<void> {
  const tag = (name: string): string => chartImage(name).split(':')[1] ?? '';
  const buildah = await ensureBuildah({ log });
  await importImages(cluster, [await rerollImage(buildah, [tag('reroll'), NEXT])]);
  const servers = { redis: [tag('redis'), '7'], valkey: ['8.1'] };
  await importImages(cluster, await serverImages(buildah, servers));
}
