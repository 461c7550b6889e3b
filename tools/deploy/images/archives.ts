import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageArchive } from '../../cluster/src/node/images.ts';
import type { Buildah } from './buildah.ts';
import { buildLayers } from './image.ts';
import { ensureServerStandIns } from './stand-ins.ts';

const DAY_MS = 86_400_000;

/** The image of Reroll under these tags. It is built again when what it is made of has changed, and only then written again. */
export async function rerollImage(buildah: Buildah, tags: readonly string[]): Promise<ImageArchive> {
  return await buildah.exclusively(async () => {
    const names = tags.map((tag) => `ghcr.io/reroll/reroll:${tag}`);
    const made = await archive(buildah, await buildLayers(buildah), names);
    removeOld(folderOf(buildah));
    return made;
  });
}

/** Stand-ins for the images of Redis and Valkey under these tags. */
export async function serverImages(
  buildah: Buildah,
  tags: { readonly redis: readonly string[]; readonly valkey: readonly string[] },
): Promise<readonly ImageArchive[]> {
  return await buildah.exclusively(async () => {
    const servers = await ensureServerStandIns(buildah);
    const named = (repository: string, all: readonly string[]): string[] =>
      all.map((tag) => `docker.io/${repository}:${tag}`);
    return [
      await archive(buildah, servers.redis, named('library/redis', tags.redis)),
      await archive(buildah, servers.valkey, named('valkey/valkey', tags.valkey)),
    ];
  });
}

/** Beside the images, so that it does not count as one of them. */
function folderOf(buildah: Buildah): string {
  return `${buildah.folder}-archives`;
}

/** What no test has used for a day. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (Date.now() - statSync(file).mtimeMs > DAY_MS) rmSync(file);
  }
}

/** By the content of the image and its first name. */
async function archive(buildah: Buildah, image: string, names: readonly string[]): Promise<ImageArchive> {
  const folder = folderOf(buildah);
  mkdirSync(folder, { recursive: true });
  const id = await buildah.do('inspect', '--type=image', '--format={{.FromImageID}}', image);
  const [own = ''] = names;
  const file = join(folder, `${own.replaceAll(/[^\w.-]/g, '_')}-${id}.tar`);
  if (!existsSync(file)) {
    const draft = `${file}.draft`;
    rmSync(draft, { force: true });
    await buildah.do('push', image, `docker-archive:${draft}:${own}`);
    renameSync(draft, file);
  }
  utimesSync(file, new Date(), new Date());
  return { file, names };
}
