import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '@reroll/core/history/entries';
import { silentLogger } from '@reroll/shared/platform/logging/logging';
import { anonymousReader } from '../auth/static-tokens.ts';
import type { ActorLimit } from '../http/limits/rate-limits.ts';
import { ProblemError } from '../http/problem-error.ts';
import { AuditLog } from '../steering/audit-log.ts';
import type { Idempotency, Keyed } from '../steering/idempotency.ts';
import { Writes } from '../steering/writes.ts';
import type { Matched } from './bulk-targets.ts';
import { BulkWrites, type Bulk, type BulkInput } from './bulk-writes.service.ts';

const WEB = { target: 'Deployment/shop/web', id: null };
const API = { target: 'Deployment/shop/api', id: null };
const DB = { target: 'StatefulSet/shop/db', id: null };

/** `most`: requests that the caller has left. */
function bulkWrites({ most = 100, apiRequestTimeout = 10_000 } = {}) {
  const audited: AuditEntry[] = [];
  const addAudit = (entry: AuditEntry): Promise<string> => {
    audited.push(entry);
    return Promise.resolve(`${audited.length}-0`);
  };
  const keys: string[] = [];
  const answers = new Map<string, unknown>();
  const idempotency = {
    once: async (
      { key }: Keyed,
      write: { run: () => Promise<unknown>; answer: (done: unknown) => unknown },
    ) => {
      keys.push(key);
      if (!answers.has(key)) answers.set(key, await write.answer(await write.run()));
      return answers.get(key);
    },
  } as unknown as Idempotency;
  let left = most;
  const countOneMore = (): Promise<boolean> => Promise.resolve(left-- > 0);
  const writes = new Writes(new AuditLog({ history: { addAudit }, log: silentLogger }), idempotency);
  return {
    bulks: new BulkWrites(writes, { countOneMore } as unknown as ActorLimit, silentLogger, {
      apiRequestTimeout,
    }),
    audited,
    keys,
  };
}

function input(more: object = {}, key?: string): BulkInput {
  return {
    caller: { ...anonymousReader(), name: 'ann' },
    requestId: 'r',
    request: { method: 'POST', originalUrl: '/api/v1/bulk/reload', headers: { 'idempotency-key': key } },
    body: { reason: 'new driver', selector: { namespace: 'shop' }, dryRun: false, ...more },
  } as unknown as BulkInput;
}

/** A reload of each that is matched; what was reloaded is in `done`. */
function reload(matched: readonly Matched[], by: Partial<Record<string, Error>> = {}) {
  const done: string[] = [];
  const bulk: Bulk<void> = {
    action: 'bulkReload',
    find: () => Promise.resolve(matched),
    write: ({ target }) => ({
      action: 'reloadWorkload',
      target,
      allow: () => Promise.resolve(),
      run: () => {
        const error = by[target];
        if (error) return Promise.reject(error);
        done.push(target);
        return Promise.resolve();
      },
      answer: (_nothing, entry) => entry,
    }),
  };
  return { bulk, done };
}

describe('a bulk request', () => {
  it('does what each request alone would have done, with its own entry in the audit log and its own key', async () => {
    const { bulks, audited, keys } = bulkWrites();
    const { bulk, done } = reload([WEB, DB]);
    const { items, dryRun } = await bulks.perform(input({}, 'key'), bulk);
    expect(dryRun).toBe(false);
    expect(items).toMatchObject([
      { ...WEB, result: 'done', problem: null },
      { ...DB, result: 'done', problem: null },
    ]);
    expect(done).toEqual([WEB.target, DB.target]);
    expect(audited.map(({ action, target, reason }) => [action, target, reason])).toEqual([
      ['reloadWorkload', WEB.target, 'new driver'],
      ['reloadWorkload', DB.target, 'new driver'],
    ]);
    expect(keys).toEqual([`key ${WEB.target} `, `key ${DB.target} `]);
  });

  it('does the others if one is refused or fails, and says which', async () => {
    const { bulks } = bulkWrites();
    const { bulk, done } = reload([API, DB, WEB], {
      [API.target]: new ProblemError('Forbidden', { detail: 'expected a right' }),
      [DB.target]: new Error('text that is not for callers'),
    });
    const { items } = await bulks.perform(input(), bulk);
    expect(items).toMatchObject([
      { result: 'refused', accepted: null, problem: { code: 'Forbidden', detail: 'expected a right' } },
      { result: 'failed', accepted: null, problem: { code: 'Internal', detail: null } },
      { result: 'done', problem: null },
    ]);
    expect(done).toEqual([WEB.target]);
  });

  it('changes nothing in a dry run, which checks the rights to each', async () => {
    const { bulks, audited, keys } = bulkWrites();
    const { bulk, done } = reload([API, WEB]);
    const refuse = async (matched: Matched) => ({
      ...(await bulk.write(matched)),
      allow: () =>
        matched.target === API.target ? Promise.reject(new ProblemError('Forbidden')) : Promise.resolve(),
    });
    const planned = { ...bulk, write: refuse };
    const { items } = await bulks.perform(input({ dryRun: true }, 'key'), planned);
    expect(items).toMatchObject([{ result: 'refused' }, { result: 'planned' }]);
    expect([done, audited, keys]).toEqual([[], [], []]);
  });

  it('does nothing if something else matches than was planned', async () => {
    const { bulks, audited } = bulkWrites();
    const { plan } = await bulks.perform(input({ dryRun: true }), reload([DB, WEB]).bulk);
    const more = reload([API, DB, WEB]);
    await expect(bulks.perform(input({ plan }), more.bulk)).rejects.toMatchObject({ code: 'Conflict' });
    const other = reload([DB, { ...WEB, id: '0123456789' }]);
    await expect(bulks.perform(input({ plan }), other.bulk)).rejects.toMatchObject({ code: 'Conflict' });
    expect([...more.done, ...other.done]).toEqual([]);
    const passing = bulks.perform(input({ plan, now: true }), reload([DB, WEB]).bulk);
    await expect(passing).rejects.toMatchObject({ code: 'Conflict' });
    expect(audited).toEqual([]);
    // In whatever order they are found.
    const same = reload([WEB, DB]);
    await bulks.perform(input({ plan }), same.bulk);
    expect(same.done).toEqual([WEB.target, DB.target]);
  });

  it('does only what is not done if it is repeated with its key and its plan, though what is done matches no more', async () => {
    const { bulks, audited } = bulkWrites();
    const { plan } = await bulks.perform(input({ dryRun: true }), reload([DB, WEB]).bulk);
    const first = reload([DB, WEB], { [DB.target]: new Error('away') });
    const { items } = await bulks.perform(input({ plan }, 'key'), first.bulk);
    const again = reload([DB]);
    const answer = await bulks.perform(input({ plan }, 'key'), again.bulk);
    expect(answer).toMatchObject({ plan, items: [{ ...DB, result: 'done' }, items[1]] });
    expect([first.done, again.done]).toEqual([[WEB.target], [DB.target]]);
    expect(await bulks.perform(input({ plan }, 'key'), reload([]).bulk)).toEqual(answer);
    expect(audited.filter(({ result }) => result === 'done')).toHaveLength(2);
    // What is planned is of the key.
    const other = bulks.perform(input({ plan }, 'other'), reload([]).bulk);
    await expect(other).rejects.toMatchObject({
      code: 'Conflict',
      details: { detail: expect.stringContaining('this request did nothing') },
    });
  });

  it('with a plan that did not match is not bound to what it found, and a dry run keeps nothing under its key', async () => {
    const { bulks } = bulkWrites();
    const { plan } = await bulks.perform(input({ dryRun: true }, 'key'), reload([DB, WEB]).bulk);
    await bulks.perform(input({ dryRun: true, plan }, 'key'), reload([DB, WEB]).bulk);
    const early = bulks.perform(input({ plan }, 'key'), reload([WEB]).bulk);
    await expect(early).rejects.toMatchObject({ code: 'Conflict' });
    const dry = bulks.perform(input({ dryRun: true, plan }, 'key'), reload([WEB]).bulk);
    await expect(dry).rejects.toMatchObject({ code: 'Conflict' });
    const { done, bulk } = reload([DB, WEB]);
    await bulks.perform(input({ plan }, 'key'), bulk);
    expect(done).toEqual([DB.target, WEB.target]);
  });

  it('is counted as one request for each object, and starts no more than the caller has left', async () => {
    const { bulks } = bulkWrites({ most: 1 });
    const { bulk, done } = reload([API, DB, WEB]);
    const { items } = await bulks.perform(input(), bulk);
    expect(items.map(({ result }) => result)).toEqual(['done', 'done', 'notStarted']);
    expect(done).toHaveLength(2);
  });

  it('starts nothing after most of its time', async () => {
    const { bulks } = bulkWrites({ apiRequestTimeout: 0 });
    const { bulk, done } = reload([API, WEB]);
    const { items } = await bulks.perform(input(), bulk);
    expect(items.map(({ result }) => result)).toEqual(['notStarted', 'notStarted']);
    expect(done).toEqual([]);
  });

  it('is refused while another one of the caller is under way', async () => {
    const { bulks } = bulkWrites();
    const { promise, resolve } = Promise.withResolvers<readonly Matched[]>();
    const first = bulks.perform(input(), { ...reload([]).bulk, find: () => promise });
    const second = bulks.perform(input(), reload([WEB]).bulk);
    await expect(second).rejects.toMatchObject({ code: 'TooManyRequests' });
    resolve([]);
    expect((await first).items).toEqual([]);
  });
});
