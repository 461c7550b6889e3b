import type { AuditEntry } from '@reroll/core/history/entries';
import { createLogger } from '@reroll/shared/platform/logging/logging';
import { expect, it } from 'vitest';
import { anonymousReader } from '../auth/static-tokens.ts';
import { AuditLog } from './audit-log.ts';
import type { Idempotency } from './idempotency.ts';
import { Writes, type Write, type WriteInput } from './writes.ts';

/** Writes whose entries cannot be kept so many times. */
function writing(failures: number) {
  const kept: AuditEntry[] = [];
  const lines: string[] = [];
  const log = createLogger({ format: 'text', level: 'info', sink: { write: (line) => lines.push(line) } });
  let left = failures;
  const addAudit = (entry: AuditEntry): Promise<string> => {
    if (left > 0) {
      left -= 1;
      return Promise.reject(new Error('away'));
    }
    kept.push(entry);
    return Promise.resolve('1-0');
  };
  /** Runs and answers, as for a new key. */
  const idempotency = {
    once: async (
      _keyed: unknown,
      { run, answer }: Write<unknown, unknown> & { answer: (done: unknown) => unknown },
    ) => await answer(await run()),
  } as unknown as Idempotency;
  const writes = new Writes(new AuditLog({ history: { addAudit }, log }), idempotency);
  const freeze = async (run: () => Promise<void>, key?: string): Promise<string> =>
    await writes.perform(
      {
        caller: { ...anonymousReader(), name: 'ann' },
        requestId: 'r',
        request: { method: 'POST', originalUrl: '/', headers: { 'idempotency-key': key } },
        body: { reason: 'incident' },
      } as unknown as WriteInput,
      {
        action: 'freezeAll',
        target: 'all workloads',
        allow: () => Promise.resolve(),
        run,
        answer: (_nothing, { id }) => id,
      },
    );
  const audited = (): string[] => lines.filter((line) => line.includes('msg=audit'));
  return { freeze, kept, audited };
}

const DONE = (): Promise<void> => Promise.resolve();

it.each([undefined, 'a-key-of-ann'])(
  'a write that was done is audited as such, if need be on the third try (key: %s)',
  async (key) => {
    const { freeze, kept, audited } = writing(2);
    expect(await freeze(DONE, key)).toBe('1-0');
    expect(kept).toMatchObject([{ action: 'freezeAll', result: 'done' }]);
    expect(audited()).toHaveLength(1);
  },
);

it.each([undefined, 'a-key-of-ann'])(
  'a write that was done, and whose entry cannot be kept, is not audited as failed, and its caller is told (key: %s)',
  async (key) => {
    const { freeze, kept, audited } = writing(3);
    await expect(freeze(DONE, key)).rejects.toMatchObject({
      code: 'Internal',
      details: { detail: expect.stringContaining('was done, but') },
    });
    expect(kept).toEqual([]);
    expect(audited()).toEqual([expect.stringContaining('result=done')]);
  },
);

it('a write that failed is audited as such', async () => {
  const { freeze, kept } = writing(0);
  await expect(freeze(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(kept).toMatchObject([{ result: 'failed', code: 'Internal' }]);
});
