import { EXPLAIN_SETTINGS } from '@reroll/core/testing/explaining';
import { workloadRow } from '@reroll/core/testing/rows';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import { expect, it } from 'vitest';
import type { Caller } from '../auth/caller.ts';
import { anonymousReader } from '../auth/static-tokens.ts';
import type { NamespaceHoldsReader } from '../objects/namespace-holds.ts';
import type { ObjectFacts } from '../objects/object-facts.ts';
import { RequestedHolds } from './requested-holds.ts';

const WEB = { kind: 'Deployment', namespace: 'shop', name: 'web' } as const;
const FROZEN = { 'reroll.dev/freeze': '; audit' };
const NEVER = { 'reroll.dev/window': 'Mon 00:00-00:00 Nowhere' };
const APPROVED = { 'reroll.dev/approval': 'required', 'reroll.dev/approved': '0123456789' };
const ALL = { installation: { 'reroll.dev/freeze-all': '; audit' } };

/** `mayAll`: whether the caller may override a freeze of the installation. */
async function heldBy(
  annotations: Readonly<Record<string, string>>,
  body: { now?: boolean; overrideFreeze?: boolean } = {},
  { mayAll = false, ...namespaces }: { mayAll?: boolean; installation?: Record<string, string> } = {},
): Promise<string | undefined> {
  const holds = new RequestedHolds(
    {
      workloads: async ([key]: [string]) => new Map([[key, workloadRow({ annotations })]]),
    } as unknown as Catalog,
    { settings: async () => EXPLAIN_SETTINGS } as ObjectFacts,
    { of: async () => namespaces } as unknown as NamespaceHoldsReader,
  );
  const caller: Caller = { ...anonymousReader(), mayOverrideFreeze: async () => mayAll };
  const hold = await holds.of({ params: WEB, body: { reason: 'an outage', ...body }, caller });
  return hold?.reason;
}

it('a manual reload is held by what it does not bypass', async () => {
  expect(await heldBy({})).toBeUndefined();
  expect(await heldBy(FROZEN, { now: true })).toBe('Frozen');
  expect(await heldBy(FROZEN, { overrideFreeze: true })).toBeUndefined();
  expect(await heldBy({}, { overrideFreeze: true }, ALL)).toBe('Frozen');
  expect(await heldBy({}, { overrideFreeze: true }, { ...ALL, mayAll: true })).toBeUndefined();
  expect(await heldBy(NEVER)).toBe('OutsideWindow');
  expect(await heldBy(NEVER, { now: true })).toBeUndefined();
  expect(await heldBy(APPROVED, { now: true })).toBe('AwaitsApproval');
});

it('a reload that was accepted does not fail because its holds cannot be read', async () => {
  const away = { workloads: () => Promise.reject(new Error('Redis is away')) } as unknown as Catalog;
  const holds = new RequestedHolds(away, {} as ObjectFacts, {} as NamespaceHoldsReader);
  const input = { params: WEB, body: { reason: 'an outage' }, caller: anonymousReader() };
  expect(await holds.of(input)).toBeUndefined();
});
