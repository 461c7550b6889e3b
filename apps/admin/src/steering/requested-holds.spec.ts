import { EXPLAIN_SETTINGS } from '@reroll/core/testing/explaining';
import { workloadRow } from '@reroll/core/testing/rows';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import { silentLogger, type Logger } from '@reroll/shared/platform/logging/logging';
import { expect, it, vi } from 'vitest';
import type { Caller } from '../auth/caller.ts';
import { anonymousReader } from '../auth/static-tokens.ts';
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
  const catalog = {
    workloads: async ([key = '']: readonly string[]) => new Map([[key, workloadRow({ annotations })]]),
  } as unknown as Catalog;
  const holds = new RequestedHolds({
    catalog,
    facts: { settings: async () => EXPLAIN_SETTINGS },
    namespaces: { of: async () => namespaces },
    log: silentLogger,
  });
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

it('a reload that was accepted does not fail because its holds cannot be read, which is logged', async () => {
  const failure = vi.fn<Logger['failure']>();
  const holds = new RequestedHolds({
    catalog: { workloads: () => Promise.reject(new Error('Redis is away')) },
    facts: { settings: async () => EXPLAIN_SETTINGS },
    namespaces: { of: async () => ({}) },
    log: { ...silentLogger, failure },
  });
  const input = { params: WEB, body: { reason: 'an outage' }, caller: anonymousReader() };
  expect(await holds.of(input)).toBeUndefined();
  expect(failure).toHaveBeenCalledOnce();
});
