import { expect, it } from 'vitest';
import { at, find, workload } from './look.ts';
import { manifestsWith, type Manifest } from './render.ts';

function keysOf(manifests: readonly Manifest[]): unknown {
  const pod = workload(manifests, 'worker').pod;
  const volumes = (at(pod, 'volumes') ?? []) as readonly { name: string; secret?: unknown }[];
  return volumes.find(({ name }) => name === 'hash-keys')?.secret;
}

it('recorded hashes are under a key that the chart makes, which only the processes mount', async () => {
  const manifests = await manifestsWith();
  const secret = find(manifests, 'Secret', 'reroll-hash-keys');
  expect(Buffer.from(String(at(secret, 'data.keys')), 'base64').toString()).toMatch(/^[A-Za-z0-9]{48}$/u);
  expect(secret.metadata.annotations).toBeUndefined();
  expect(keysOf(manifests)).toEqual({
    secretName: 'reroll-hash-keys',
    defaultMode: 0o440,
    items: [{ key: 'keys', path: 'keys' }],
  });
  expect(at(workload(manifests, 'redis').pod, 'volumes')).not.toContainEqual(
    expect.objectContaining({ name: 'hash-keys' }),
  );
});

it('the key may stay when the release goes', async () => {
  const manifests = await manifestsWith({ reloader: { hashKey: { keep: true } } });
  const { metadata } = find(manifests, 'Secret', 'reroll-hash-keys');
  expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
});

it('the key may be yours, or there may be none', async () => {
  const mine = await manifestsWith({
    reloader: { hashKey: { existingSecret: 's', existingSecretKey: 'k' } },
  });
  expect(keysOf(mine)).toMatchObject({ secretName: 's', items: [{ key: 'k', path: 'keys' }] });
  const none = await manifestsWith({ reloader: { hashKey: { enabled: false } } });
  expect(keysOf(none)).toBeUndefined();
  expect(workload(none, 'worker').args.filter((arg) => arg.startsWith('--hash-key-file'))).toEqual([]);
  for (const manifests of [mine, none])
    expect(manifests.some(({ metadata }) => metadata.name === 'reroll-hash-keys')).toBe(false);
});
