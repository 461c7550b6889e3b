import type { SourceKey } from '@reroll/core/model';
import { beforeEach, describe, expect, it } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import { Catalog } from './catalog.ts';
import { resetCatalog } from './reset.ts';
import { sourceRow, workloadRow } from './testing/rows.ts';

const SETTINGS = 'ConfigMap/shop/settings';
const WEB = 'Deployment/shop/web';

const redis = useRealRedis();
let catalog: Catalog;

beforeEach(() => {
  catalog = new Catalog(redis.client, redis.freshKeys());
});

/** A leader's first write: a source and a workload that is indexed under these. */
async function publish(term: string, index: readonly SourceKey[] = [SETTINGS]): Promise<unknown> {
  return await catalog.publish({
    writer: { term, sequence: 0 },
    sources: [[SETTINGS, sourceRow({ rv: '900', dataRv: '900' })]],
    workloads: [[WEB, { row: workloadRow({ rv: '901' }), index }]],
  });
}

describe('a catalog that is reset', () => {
  it('has no row, no index and no reading, nor what a dry run pretended', async () => {
    await publish('800', [SETTINGS, 'ConfigMap/shop/not-there']);
    await catalog.putReading(SETTINGS, { rv: '900', hash: '1.A', markerHash: 'a' });
    await catalog.pretend(WEB, '{"v":1,"s":{}}');
    await resetCatalog(redis.client, catalog.keys, '500');
    const left = (await redis.client.keys('*')).filter((key) => key.startsWith(catalog.keys.prefix));
    expect(left).toEqual([catalog.keys.writer]);
  });

  it('is written by a leader of later, under an earlier term than that of before, and by none of before', async () => {
    await publish('800');
    await resetCatalog(redis.client, catalog.keys, '500');
    expect(await publish('450')).toEqual({ refused: true });
    expect(await publish('510')).toMatchObject({ refused: false });
    expect(await catalog.users(SETTINGS)).toEqual([WEB]);
  });

  it('goes on to be written by a leader that had begun before a second reset', async () => {
    await publish('800');
    await resetCatalog(redis.client, catalog.keys, '500');
    await publish('510');
    await resetCatalog(redis.client, catalog.keys, '505');
    expect(await catalog.isLastWriter({ term: '510', sequence: 1 })).toBe(false);
    expect(await publish('510')).toMatchObject({ refused: false });
    expect(await catalog.workloads([WEB])).toEqual(new Map([[WEB, workloadRow({ rv: '901' })]]));
  });

  it('takes commands in proportion to its rows', async () => {
    const commandsOf = async (rows: number): Promise<number> => {
      await catalog.publish({
        writer: { term: String(rows), sequence: 0 },
        sources: Array.from({ length: rows }, (_, index) => [`ConfigMap/shop/${index}`, sourceRow()]),
        workloads: [],
      });
      const before = await commands();
      await resetCatalog(redis.client, catalog.keys, '5');
      return (await commands()) - before;
    };
    const few = await commandsOf(2_000);
    const many = await commandsOf(8_000);
    expect(few).toBeLessThan(60);
    expect(many).toBeLessThan(few * 5);
  });
});

async function commands(): Promise<number> {
  const stats = await redis.client.info('stats');
  return Number(/total_commands_processed:(\d+)/.exec(stats)?.[1]);
}
