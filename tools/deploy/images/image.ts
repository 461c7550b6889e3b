import { readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run } from '../../cluster/src/run.ts';
import { containerName, STAMP, withFolder, type Buildah } from './buildah.ts';
import { DOCKERFILE, ROOT } from './dockerfile.ts';
import { ensureStandIns } from './stand-ins.ts';

/** What an image says about how it is run. */
export interface ImageConfig {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Entrypoint: readonly string[];
  /** `NAME=value`. */
  readonly Env: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
}

/** An image that was built, its file system mounted; changes of it stay in it until it is closed. */
export interface MountedImage {
  readonly config: ImageConfig;
  readonly root: string;
  /** Bytes of all files. */
  readonly size: number;
  close(): Promise<void>;
}

const NAME = 'localhost/reroll/reroll';

/** Builds the image, with its Dockerfile as it is, and mounts it. */
export async function buildImage(buildah: Buildah): Promise<MountedImage> {
  return await buildah.exclusively(() => build(buildah));
}

/** Builds the image with its Dockerfile as it is, while nobody else builds. Returns its name. */
export async function buildLayers(buildah: Buildah): Promise<string> {
  await ensureStandIns(buildah);
  const settings = Object.entries(STAMP).map(([key, value]) => `--build-arg=${key.toUpperCase()}=${value}`);
  const how = ['--pull-never', '--layers', '--format=docker', ...settings];
  buildah.log('building the image');
  await buildah.do('build', ...how, `--file=${DOCKERFILE}`, `--tag=${NAME}`, ROOT);
  return NAME;
}

async function build(buildah: Buildah): Promise<MountedImage> {
  const name = await buildLayers(buildah);
  const { Docker } = JSON.parse(await buildah.do('inspect', '--type=image', name)) as Inspected;
  const container = await buildah.do('from', '--pull-never', `--name=${containerName('reroll')}`, name);
  const root = await buildah.do('mount', container);
  return {
    config: Docker.config,
    root,
    size: await sizeOf(root),
    close: async () => void (await buildah.do('rm', container)),
  };
}

/** What a build is given: every file that .dockerignore lets through, from the root of the repository. */
export async function contextFiles(buildah: Buildah): Promise<readonly string[]> {
  return await buildah.exclusively(() =>
    withFolder(async (folder) => {
      const dockerfile = join(folder, 'Dockerfile');
      writeFileSync(dockerfile, 'FROM scratch\nCOPY . /\n');
      const name = 'localhost/reroll/context';
      await buildah.do('build', '--format=docker', `--file=${dockerfile}`, `--tag=${name}`, ROOT);
      const container = await buildah.do('from', '--pull-never', `--name=${containerName('context')}`, name);
      try {
        const root = await buildah.do('mount', container);
        const files = readdirSync(root, { recursive: true, withFileTypes: true });
        return files.flatMap((each) =>
          each.isDirectory() ? [] : [relative(root, join(each.parentPath, each.name))],
        );
      } finally {
        await buildah.do('rm', container);
      }
    }),
  );
}

interface Inspected {
  readonly Docker: { readonly config: ImageConfig };
}

async function sizeOf(folder: string): Promise<number> {
  const { stdout } = await run('du', ['--summarize', '--bytes', folder]);
  return Number.parseInt(stdout, 10);
}
