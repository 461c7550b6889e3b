import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { imagesOf } from './values/images-file.ts';
import { at, workload } from './look.ts';
import { manifestsWith } from './render.ts';
import { CHART } from './values/values-comments.ts';

describe('an image', () => {
  const digest = `sha256:${'a'.repeat(64)}`;

  it.each([
    ['watcher', 'reroll/reroll', { image: { digest } }],
    ['worker', 'reroll/reroll', { image: { digest } }],
    ['admin', 'reroll/reroll', { image: { digest } }],
    ['redis', 'library/redis', { redis: { image: { digest } } }],
  ])('of %s is named by its digest, with a registry too', async (component, name, values) => {
    const { container } = workload(
      await manifestsWith({ ...values, global: { imageRegistry: 'm' } }),
      component,
    );
    expect(at(container, 'image')).toBe(`m/${name}@${digest}`);
  });

  it('of the test is that of the components', async () => {
    const manifests = await manifestsWith({ image: { repository: 'r/w', tag: '1' } });
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
