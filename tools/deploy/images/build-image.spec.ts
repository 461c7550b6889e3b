import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { VERSION } from '@reroll/shared/platform/process/version';
import { run } from '../../cluster/src/run.ts';

const PROGRAM = join(import.meta.dirname, 'build-image.ts');
const IMAGE = `ghcr.io/reroll/reroll:${VERSION}`;
const BUILD = `build --file deploy/docker/Dockerfile --tag ${IMAGE} .`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reroll-build-image-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A program that writes down its arguments, and fails if they begin with these. */
function put(name: string, failing = '-'): void {
  const text = `#!/bin/sh\necho "${name} $*" >>${folder}/calls\ncase "$*" in ${failing}*) exit 3;; esac\n`;
  writeFileSync(join(folder, name), text);
  chmodSync(join(folder, name), 0o755);
}

async function build(
  ...args: readonly string[]
): Promise<{ code: number; tail: string; calls: readonly string[] }> {
  const { code, tail } = await run(process.execPath, [PROGRAM, ...args], { env: { PATH: folder } });
  const calls = (): readonly string[] => readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n');
  return { code, tail, calls: code === 2 || tail.includes('found none') ? [] : calls() };
}

it.each<[string, readonly string[], readonly string[]]>([
  ['docker', ['docker', 'podman', 'buildah'], ['docker info', `docker ${BUILD}`]],
  ['podman', ['podman', 'buildah'], [`podman ${BUILD}`]],
  ['buildah', ['buildah'], [`buildah ${BUILD.replace('build', 'build --layers')}`]],
])('builds with %s', async (_name, there, calls) => {
  for (const each of there) put(each);
  expect(await build()).toMatchObject({ code: 0, calls });
});

it('goes on to the next if Docker has no daemon', async () => {
  put('docker', 'info');
  put('podman');
  const { code, tail, calls } = await build();
  expect({ code, calls }).toEqual({ code: 0, calls: ['docker info', `podman ${BUILD}`] });
  expect(tail).toContain(
    `podman push ${IMAGE} docker-archive:reroll.tar:${IMAGE} && kind load image-archive`,
  );
});

it('says how a cluster on this machine gets the image', async () => {
  put('docker');
  const { tail } = await build();
  for (const text of [
    `kind load docker-image ${IMAGE}`,
    `k3d image import ${IMAGE}`,
    `minikube image load ${IMAGE}`,
  ])
    expect(tail).toContain(text);
});

it('pushes to a registry, and says by which values it is pulled', async () => {
  put('docker');
  const { calls, tail } = await build('--image=r.example:5000/team/reroll:1', '--push');
  expect(calls.at(-1)).toBe('docker push r.example:5000/team/reroll:1');
  expect(tail).toContain('--set image.repository=r.example:5000/team/reroll,image.tag=1');
});

it('says what is missing, what failed and what it was not told', async () => {
  expect(await build()).toMatchObject({
    code: 1,
    tail: 'expected docker (with its daemon), podman or buildah on the PATH; found none of them',
  });
  put('buildah', 'build');
  expect(await build()).toMatchObject({
    code: 1,
    tail: expect.stringContaining('ended with code 3') as string,
  });
  expect(await build('--pull')).toMatchObject({ code: 2, tail: expect.stringContaining('--push') as string });
});
