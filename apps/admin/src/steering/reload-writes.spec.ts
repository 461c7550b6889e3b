import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { ReloadRequests, RequestedBy } from '@reroll/redis/catalog/requests';
import type { History } from '@reroll/redis/history/history';
import type { Queues } from '@reroll/redis/queue/queues';
import { workloadRow } from '@reroll/core/testing/rows';
import { expect, it } from 'vitest';
import { anonymousReader } from '../auth/static-tokens.ts';
import type { Caller } from '../auth/caller.ts';
import { ReloadWrites } from './reload-writes.service.ts';

const WEB = { kind: 'Deployment', namespace: 'shop', name: 'web' } as const;

/** The holds that a reload passes which a caller with the right to override freezes in these namespaces asks for. */
async function passedBy(rights: readonly (string | undefined)[], overrideFreeze = true): Promise<unknown> {
  const caller: Caller = {
    ...anonymousReader(),
    mayChange: async () => true,
    mayOverrideFreeze: async (namespace) => rights.includes(namespace),
  };
  const asked: RequestedBy[] = [];
  const put = async (_workload: unknown, by: RequestedBy): Promise<object> => {
    asked.push(by);
    return { ...by, id: '1-a', at: 1 };
  };
  const row = new Map([['Deployment/shop/web', workloadRow()]]);
  const writes = new ReloadWrites(
    { workloads: async () => row } as unknown as Catalog,
    { addManual: async () => '1-0' } as unknown as History,
    { enqueueReloadNow: async () => undefined } as unknown as Queues,
    { put } as unknown as ReloadRequests,
  );
  const write = writes.reload({ params: WEB, caller, body: { reason: 'an outage', overrideFreeze } });
  await write.allow();
  await write.run();
  return asked[0]?.passes;
}

it('the right to override freezes in a namespace passes no freeze of the installation, that in all namespaces does', async () => {
  expect(await passedBy(['shop'])).toEqual(['Frozen']);
  expect(await passedBy(['shop', undefined])).toEqual(['Frozen', 'InstallationFrozen']);
  expect(await passedBy(['shop', undefined], false)).toEqual([]);
  await expect(passedBy([])).rejects.toMatchObject({ code: 'Forbidden' });
});
