import { OPTIONS } from '@reroll/shared/platform/options/parsing/table';
import { expect, it } from 'vitest';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import { useRealRedis } from '@reroll/redis/testing/real-redis';
import { claimed } from './catalog.module.ts';
import type { Readiness } from './health.module.ts';
import type { Process } from './process.ts';
import type { RedisConnection } from './redis.module.ts';

const redis = useRealRedis();
const LEASES = [OPTIONS.leaseName.default, 'prod-reroll-watcher'] as const;

function catalogOf(leaseName: string): Promise<Catalog> {
  const lifecycle = new AbortController();
  const process = { options: { leaseName }, hashKeys: [], lifecycle } as unknown as Process;
  const hooks = { onDown: () => undefined, onUp: () => undefined };
  const connection = {
    client: redis.client,
    reports: { onEvicting: () => undefined },
    waiting: { signal: lifecycle.signal, hooks },
  } as unknown as RedisConnection;
  const identity = { cluster: 'c', namespace: 'reroll', uid: 'uid-1' };
  return claimed(process, connection, identity, { add: () => undefined } as unknown as Readiness);
}

it('leaders of two installs in one namespace do not end each other', async () => {
  const [first, second] = await Promise.all(LEASES.map(catalogOf));
  expect([first?.keys.prefix, second?.keys.prefix]).toEqual([
    '{reroll:c:reroll}',
    '{reroll:c:reroll:prod-reroll-watcher}',
  ]);
  const write = (catalog: Catalog | undefined, term: string): unknown =>
    catalog?.publish({ writer: { term, sequence: 0 }, sources: [], workloads: [] });
  expect(await write(second, '105')).toMatchObject({ refused: false });
  expect(await write(first, '100')).toMatchObject({ refused: false });
});
