import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { imagesOf } from './values/images-file.ts';
import { at, workload } from './look.ts';
import { manifestsWith } from './render.ts';
import { CHART } from './values/values-comments.ts';

describe('an image', () => {
  const digest = `sha256:${'a'.repeat(64)}`;

  it.each(['watcher', 'worker', 'admin', 'redis'])(
    'of %s is named by its digest, with a registry too',
    async (component) => {
      const values = { [component]: { image: { digest } }, global: { imageRegistry: 'm' } };
      const { container } = workload(await manifestsWith(values), component);
      expect(at(container, 'image')).toMatch(new RegExp(`^m/.*@${digest}$`, 'u'));
    },
  );

  it('of the test is that of the worker', async () => {
    const manifests = await manifestsWith({ worker: { image: { repository: 'r/w', tag: '1' } } });
    const pod = manifests.find(({ kind }) => kind === 'Pod');
    expect(at(pod, 'spec.containers.0.image')).toBe('r/w:1');
  });

  it('may be Valkey', async () => {
    const image = { repository: 'valkey/valkey', tag: '8.1.4-alpine' };
    const { container } = workload(await manifestsWith({ redis: { image } }), 'redis');
    expect(at(container, 'image')).toBe('docker.io/valkey/valkey:8.1.4-alpine');
    expect(at(container, 'command.2')).toContain('\nexec redis-server ');
  });
});

it('images.txt names every image of the default install', async () => {
  const text = readFileSync(join(CHART, 'images.txt'), 'utf8').trim().split('\n');
  expect(text).toEqual(imagesOf(await manifestsWith()));
});
