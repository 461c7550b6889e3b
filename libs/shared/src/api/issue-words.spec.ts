import { describe, expect, it } from 'vitest';
import { OPERATIONS } from './operations.ts';
import { issueWords } from './issue-words.ts';

const { listChanges, preview, retryJob, listWorkloads, bulkReload } = OPERATIONS;
const SOURCE = { kind: 'Secret', namespace: 'shop', name: 'db' };

describe('a request is told what was expected, and of what was given only the type', () => {
  it.each([
    [listChanges.query, { limit: '0' }, 'limit: expected at least 1'],
    [listChanges.query, { limit: '201' }, 'limit: expected at most 200'],
    [listChanges.query, { limit: '1.5' }, 'limit: expected a whole number, given a number'],
    [listChanges.query, { limit: 'many' }, 'limit: expected a number, given no number'],
    [listChanges.query, { limits: '1' }, ': nothing else than documented, given "limits"'],
    [listChanges.query, { since: 'now' }, 'since: expected a time in UTC, e.g. 2026-11-21T15:00:00Z'],
    [listChanges.query, { halted: 'no' }, 'halted: expected true'],
    [listChanges.query, { cursor: 'x'.repeat(513) }, 'cursor: expected at most 512 characters'],
    [retryJob.body, {}, 'reason: expected text, given nothing'],
    [retryJob.body, { reason: ' ' }, 'reason: expected at least 1 character'],
    [retryJob.body, { reason: ['secret'] }, 'reason: expected text, given a list'],
    [retryJob.body, 'secret', ': expected an object, given text'],
    [retryJob.body, null, ': expected an object, given null'],
    [bulkReload.body, { reason: 'r', now: 1 }, 'now: expected true or false, given a number'],
    [
      listWorkloads.query,
      { kind: 'Pod' },
      'kind: expected one of Deployment, StatefulSet, DaemonSet, CronJob, Job, Rollout, DeploymentConfig',
    ],
    [preview.body, { of: 'pod' }, 'of: expected one of source, workload'],
    [
      preview.body,
      { of: 'source', source: SOURCE, annotations: { ['a'.repeat(318)]: '' } },
      `annotations.${'a'.repeat(318)}: in a key: expected at most 317 characters`,
    ],
  ])('%#', (schema, given, said) => {
    const { error } = schema.safeParse(given, { error: issueWords });
    const words = error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    expect(words).toContain(said);
  });
});
