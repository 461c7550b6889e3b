import type { SourceKey } from '@reroll/core/model';
import type { Before } from '@reroll/core/history/change-cause';
import type { ChangeEntry } from '@reroll/core/history/entries';
import { createLogger } from '@reroll/shared/platform/logging/logging';
import { Registry } from 'prom-client';
import { workerMetrics } from '@reroll/shared/platform/metrics/worker';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OutcomeRecorder } from './outcome-recorder.ts';

const MINUTE = 60_000;

function change(source: SourceKey, at: number): ChangeEntry {
  const hash = '1.b';
  return { source, cause: 'updated', since: at, at, from: '1.a', hash, woken: [], leftAlone: [] };
}

interface Recording {
  readonly recorder: OutcomeRecorder;
  readonly told: ChangeEntry[];
  dropped(reason: string): Promise<number>;
}

function recording(
  by: {
    before?: Before | undefined;
    write?: () => Promise<void>;
    isFull?: boolean;
    failed?: (error: unknown) => void;
  } = {},
): Recording {
  const registry = new Registry();
  const metrics = workerMetrics(registry);
  const told: ChangeEntry[] = [];
  const { before = { foundBy: 'event', hash: '1.a' }, write = () => Promise.resolve() } = by;
  const history = {
    addChange: (entry: ChangeEntry) => {
      told.push(entry);
      return write();
    },
    addOutcome: write,
    expectOutcomes: write,
    before: () => Promise.resolve('before' in by ? by.before : before),
  };
  const room = { isFull: by.isFull ?? false, failed: by.failed ?? ((): void => undefined) };
  const log = createLogger({ format: 'json', level: 'panic', sink: { write: () => undefined } });
  return {
    recorder: new OutcomeRecorder({ history, room, metrics, log }),
    told,
    dropped: async (reason) => {
      const { values } = await metrics.historyDropped.get();
      return values.find(({ labels }) => labels.reason === reason)?.value ?? Number.NaN;
    },
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('changes that reloaded nothing', () => {
  it('are told once a minute, however often their source is written', async () => {
    const { recorder, told } = recording();
    for (let second = 0; second < 600; second += 1) {
      recorder.addQuietChange(change('ConfigMap/shop/hot', second));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    await recorder.flush();
    expect(told.length).toBeGreaterThanOrEqual(10);
    expect(told.length).toBeLessThanOrEqual(12);
    const merged = told.reduce((sum, entry) => sum + (entry.merged ?? 0), 0);
    expect([told.length + merged, told.at(-1)?.since]).toEqual([600, 599]);
  });

  it('of other sources are told at once', () => {
    const { recorder, told } = recording();
    for (const name of ['a', 'b', 'c']) recorder.addQuietChange(change(`ConfigMap/shop/${name}`, 1));
    expect(told).toHaveLength(3);
  });

  it('are counted by the change that reloads something, which comes after them', () => {
    const { recorder, told } = recording();
    for (const at of [1, 2, 3]) recorder.addQuietChange(change('ConfigMap/shop/cm', at));
    recorder.addChange(change('ConfigMap/shop/cm', 4));
    expect(told.map(({ since, merged }) => [since, merged])).toEqual([
      [1, undefined],
      [4, 2],
    ]);
  });

  it('are not told late if another worker has told a later one', async () => {
    const { recorder, told } = recording({ before: undefined });
    for (const at of [1, 2]) recorder.addQuietChange(change('ConfigMap/shop/cm', at));
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(told.map(({ since }) => since)).toEqual([1]);
  });
});

describe('a Redis that does not answer', () => {
  it('holds up nobody: more than so many entries are dropped, and counted', async () => {
    const { recorder, told, dropped } = recording({ write: () => new Promise(() => undefined) });
    for (let index = 0; index < 5_000; index += 1)
      recorder.addChange(change(`ConfigMap/shop/cm-${index}`, index));
    expect([told.length, await dropped('busy')]).toEqual([2_000, 3_000]);
  });

  it('that refuses an entry has it counted, and who watches its memory told', async () => {
    const refusal = new Error('no');
    const failures: unknown[] = [];
    const { recorder, dropped } = recording({
      write: () => Promise.reject(refusal),
      failed: (error) => failures.push(error),
    });
    recorder.addChange(change('ConfigMap/shop/cm', 1));
    await recorder.flush();
    expect([await dropped('error'), failures]).toEqual([1, [refusal]]);
  });

  it('that has no room is given no history, and that is counted', async () => {
    const { recorder, told, dropped } = recording({ isFull: true });
    recorder.addChange(change('ConfigMap/shop/cm', 1));
    expect([told, await dropped('full')]).toEqual([[], 1]);
  });
});
