import { expect, it } from 'vitest';
import { at, workload } from './look.ts';
import { manifestsWith, type Manifest } from './render.ts';

function keysOf(manifests: readonly Manifest[]): unknown {
  const pod = workload(manifests, 'worker').pod;
  const volumes = (at(pod, 'volumes') ?? []) as readonly { name: string; secret?: unknown }[];
  return volumes.find(({ name }) => name === 'hash-keys')?.secret;
}

it('recorded hashes are under a key that only the processes mount', async () => {
  const manifests = await manifestsWith();
  expect(keysOf(manifests)).toEqual({
    secretName: 'reroll-hash-keys',
    defaultMode: 0o440,
    items: [{ key: 'keys', path: 'keys' }],
  });
  expect(at(workload(manifests, 'redis').pod, 'volumes')).not.toContainEqual(
    expect.objectContaining({ name: 'hash-keys' }),
  );
});

it('the key may be yours, or there may be none', async () => {
  const mine = await manifestsWith({
    reloader: { hashKey: { existingSecret: 's', existingSecretKey: 'k' } },
  });
  expect(keysOf(mine)).toMatchObject({ secretName: 's', items: [{ key: 'k', path: 'keys' }] });
  const none = await manifestsWith({ reloader: { hashKey: { enabled: false } } });
  expect(keysOf(none)).toBeUndefined();
  expect(workload(none, 'worker').args.filter((arg) => arg.startsWith('--hash-key-file'))).toEqual([]);
  for (const manifests of [mine, none]) expect(JSON.stringify(manifests)).not.toContain('reroll-hash-keys');
});
