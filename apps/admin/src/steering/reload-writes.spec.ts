import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { ReloadRequests, RequestedBy } from '@reroll/redis/catalog/requests';
import type { History } from '@reroll/redis/history/history';
import type { Queues } from '@reroll/redis/queue/queues';
import type { WorkloadKey } from '@reroll/core/model';
import type { WorkloadRow } from '@reroll/core/state/rows';
import { workloadRow } from '@reroll/core/testing/rows';
import { expect, it } from 'vitest';
import { anonymousReader } from '../auth/static-tokens.ts';
import type { Caller } from '../auth/caller.ts';
import { ReloadWrites } from './reload-writes.service.ts';

const WEB = { kind: 'Deployment', namespace: 'shop', name: 'web' } as const;

function reloadWrites(put: unknown, row: WorkloadRow): ReloadWrites {
  const workloads = async (keys: WorkloadKey[]): Promise<Map<WorkloadKey, WorkloadRow>> =>
    new Map(keys.map((key) => [key, row]));
  return new ReloadWrites(
    { workloads } as unknown as Catalog,
    { addManual: async () => '1-0' } as unknown as History,
    { enqueueReloadNow: async () => undefined } as unknown as Queues,
    { put } as unknown as ReloadRequests,
  );
}

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
  const writes = reloadWrites(put, workloadRow());
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

/** Whether somebody may reload a Rollout with the template of a Deployment, by rights to patch these workloads. */
async function mayReload(rights: readonly WorkloadKey[], isMarked = true): Promise<void> {
  const caller: Caller = {
    ...anonymousReader(),
    mayChange: async (workload) => rights.includes(workload),
  };
  const templateOwner = { key: 'Deployment/shop/web', uid: 'u', generation: 1, rv: '1', isMarked } as const;
  const writes = reloadWrites(undefined, workloadRow({ templateOwner }));
  const params = { kind: 'Rollout', namespace: 'shop', name: 'canary' } as const;
  await writes.reload({ params, caller, body: { reason: 'an outage' } }).allow();
}

it('a Rollout with the template of a Deployment is reloaded by who may patch both, if that is written', async () => {
  await expect(mayReload(['Rollout/shop/canary'])).rejects.toMatchObject({
    code: 'Forbidden',
    message: expect.stringContaining('Deployment/shop/web'),
  });
  await mayReload(['Rollout/shop/canary', 'Deployment/shop/web']);
  await mayReload(['Rollout/shop/canary'], false);
});
