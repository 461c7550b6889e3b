import { expect, it } from 'vitest';
import type { SourceRef } from '../references/pod-uses.ts';
import { containerUses } from './container-uses.ts';

const isDb = ({ kind, name }: SourceRef): boolean => kind === 'Secret' && name === 'db';

it('leaves out what is not meant, in each way of use', () => {
  const spec = {
    containers: [
      {
        name: 'app',
        env: ['db', 'api'].map((name) => ({ name, valueFrom: { secretKeyRef: { name, key: 'v' } } })),
        envFrom: [{ secretRef: { name: 'db' } }, { configMapRef: { name: 'db' } }],
        volumeMounts: [{ name: 'one' }, { name: 'two' }, { name: 'none' }],
      },
    ],
    volumes: [
      { name: 'one', secret: { secretName: 'db' } },
      { name: 'two', configMap: { name: 'db' } },
    ],
    imagePullSecrets: [{ name: 'db' }, { name: 'registry' }],
  };
  const found = containerUses({ spec }, isDb);
  expect(found.map(({ by }) => by)).toEqual(['env', 'envFrom', 'volume', 'imagePull']);
  expect(found.every(({ source }) => isDb(source))).toBe(true);
  expect(containerUses({ spec })).toHaveLength(8);
});

it('looks through a volume once, however often it is mounted, and names each use once', () => {
  const sources = Array.from({ length: 300 }, (_, index) => ({ secret: { name: `s${index}` } }));
  const volumeMounts = Array.from({ length: 300 }, (_, index) => ({ name: 'all', subPath: `${index}` }));
  const container = (_: unknown, index: number): object => ({ name: `c${index}`, volumeMounts });
  const containers = Array.from({ length: 10 }, container) as { name: string }[];
  const spec = { containers, volumes: [{ name: 'all', projected: { sources } }] };
  let looked = 0;
  const found = containerUses({ spec }, ({ name }) => {
    looked += 1;
    return name === 's7';
  });
  expect(looked).toBe(300);
  expect(found.map(({ container, by }) => `${container} ${by}`)).toEqual(
    containers.map(({ name }) => `${name} subPath`),
  );
});
