import type { AuditEntry } from '@reroll/core/history/entries';
import { describe, expect, it } from 'vitest';
import { afterId } from '@reroll/core/history/stream-id';
import { HistoryContents } from './history-contents.ts';

const ENTRY: AuditEntry = {
  at: 1,
  actor: 'ann',
  action: 'pauseQueue',
  target: 'reloads',
  reason: 'a test',
  result: 'done',
  requestId: 'r',
};

describe('the audit log in memory', () => {
  it('is without an entry that went for another one, and without no other', () => {
    const contents = new HistoryContents();
    for (const id of ['1-0', '2-0', '3-0']) contents.add({ stream: 'audit', id, entry: ENTRY });
    contents.add({ stream: 'audit', id: '4-0', entry: ENTRY });
    for (const id of ['2-0', '0-5']) contents.drop('audit', afterId(id), { id, share: 'ann' });
    expect(contents.audit.map(({ id }) => id)).toEqual(['1-0', '3-0', '4-0']);
  });
});
