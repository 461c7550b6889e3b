import type { AuditEntry } from '@reroll/core/history/entries';
import { createLogger } from '@reroll/shared/platform/logging/logging';
import { describe, expect, it } from 'vitest';
import { AuditLog, type Audited } from './audit-log.ts';

const REFUSED: Audited = {
  actor: 'ann',
  action: 'pauseQueue',
  target: 'reloads',
  reason: 'a test',
  result: 'refused',
  code: 'Forbidden',
  requestId: '1',
};

function auditing(addAudit?: () => Promise<string>): {
  audit: AuditLog;
  kept: AuditEntry[];
  lines: string[];
} {
  const kept: AuditEntry[] = [];
  const lines: string[] = [];
  const log = createLogger({
    format: 'json',
    level: 'info',
    sink: { write: (line: string) => lines.push(line) },
  });
  const add = (entry: AuditEntry): Promise<string> => {
    kept.push(entry);
    return Promise.resolve(`${kept.length}-0`);
  };
  return { audit: new AuditLog({ history: { addAudit: addAudit ?? add }, log }), kept, lines };
}

describe('the audit log', () => {
  it('keeps what was done, and the log has it too', async () => {
    const { audit, kept, lines } = auditing();
    expect(await audit.addDone(REFUSED)).toMatchObject({ id: '1-0' });
    expect(kept).toEqual([expect.objectContaining({ actor: 'ann', result: 'done', at: expect.any(Number) })]);
    expect(lines[0]).toContain('"action":"pauseQueue"');
  });

  it('keeps so many refusals of one actor, and those of others, and the log has all of them', async () => {
    const { audit, kept, lines } = auditing();
    for (let count = 0; count < 100; count += 1) await audit.addUndone(REFUSED);
    await audit.addUndone({ ...REFUSED, actor: 'bob' });
    expect(kept.filter(({ actor }) => actor === 'ann')).toHaveLength(20);
    expect(kept.filter(({ actor }) => actor === 'bob')).toHaveLength(1);
    expect(lines).toHaveLength(101);
  });

  it('keeps so many refusals of all actors together, and what others did or failed to do', async () => {
    const { audit, kept, lines } = auditing();
    for (let count = 0; count < 300; count += 1)
      await audit.addUndone({ ...REFUSED, actor: `made up ${count}` });
    await audit.addUndone({ ...REFUSED, actor: 'bob', result: 'failed' });
    await audit.addDone({ ...REFUSED, actor: 'carol' });
    expect(kept).toHaveLength(102);
    expect(lines).toHaveLength(302);
  });

  it('keeps the longest key of an object, and no more than 400 characters of a target', async () => {
    const { audit, kept, lines } = auditing();
    const longest = `0123456789 Deployment/${'n'.repeat(63)}/${'w'.repeat(253)}`;
    await audit.addUndone({ ...REFUSED, target: longest });
    await audit.addUndone({ ...REFUSED, target: 'x'.repeat(16_000) });
    expect(kept.map(({ target }) => target)).toEqual([longest, 'x'.repeat(400)]);
    expect(lines[1]).not.toContain('x'.repeat(401));
  });

  it('that cannot be written leaves the answer to the caller as it is', async () => {
    const { audit, lines } = auditing(() => Promise.reject(new Error('text of others')));
    await audit.addUndone(REFUSED);
    expect(lines.join('')).toContain('cannot write an entry of the audit log');
    expect(lines.join('')).not.toContain('text of others');
    await expect(audit.addDone(REFUSED)).rejects.toMatchObject({ code: 'Internal' });
  });
});
