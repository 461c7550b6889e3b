import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '@reroll/core/history/entries';
import { useRealRedis } from '../testing/real-redis.ts';
import { History } from './history.ts';
import type { CatalogKeys } from '../catalog/keys.ts';

const DAY = 86_400_000;
const MOST = 1_000;

const redis = useRealRedis();
let keys: CatalogKeys;
let history: History;

beforeEach(() => {
  keys = redis.freshKeys();
  history = new History(redis.client, keys, { maxEntries: MOST, maxAge: DAY, maxBytes: 33_554_432 });
});

function entry(actor: string, reason: string): AuditEntry {
  const rest = {
    action: 'reloadWorkload',
    target: 'Deployment/shop/web',
    result: 'done',
    requestId: 'r',
  } as const;
  return { at: 1, actor, reason, ...rest };
}

async function write(actor: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 1_000)
    await Promise.all(
      Array.from({ length: Math.min(1_000, count - from) }, (_, n) =>
        history.addAudit(entry(actor, String(from + n))),
      ),
    );
}

async function bytes(): Promise<number> {
  const names = [keys.audit, ...(await redis.client.keys(`${keys.shares}*`))];
  const used = await Promise.all(names.map((name) => redis.client.memory('USAGE', name, 'SAMPLES', 0)));
  return used.reduce<number>((sum, each) => sum + (each ?? 0), 0);
}

describe('the audit log', () => {
  it('keeps the entries of others, however much one caller writes', { timeout: 120_000 }, async () => {
    await write('bob', 50);
    await write('ann', MOST - 100);
    const before = await bytes();
    await write('ann', 10_000);
    await write('carol', 50);
    const all = await history.latest('audit', 20_000);
    const of = (who: string): string[] =>
      all.filter((each) => each.entry.actor === who).map((each) => each.entry.reason);
    const numbers = Array.from({ length: 50 }, (_, n) => String(49 - n));
    expect([of('bob'), of('carol')]).toEqual([numbers, numbers]);
    const theirs = all.filter((each) => !['bob', 'carol'].includes(each.entry.actor));
    expect(theirs.map((each) => each.entry.reason)).toEqual(
      Array.from({ length: MOST - 100 }, (_, n) => String(9_999 - n)),
    );
    // Redis keeps what was dropped until the hundred that it holds in one node are gone.
    expect(await bytes()).toBeLessThan(2 * before);
  });
});
