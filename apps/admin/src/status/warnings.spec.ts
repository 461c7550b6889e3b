import type { Process } from '@reroll/redis/processes/processes';
import { EXPLAIN_SETTINGS } from '@reroll/core/testing/explaining';
import { describe, expect, it } from 'vitest';
import { warningsOf } from './warnings.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

function process(app: Process['app'], rest: Partial<Process> = {}): Process {
  return {
    id: app,
    app,
    name: app,
    version: '7.1.0',
    startedAt: NOW,
    seenAt: NOW,
    isLive: true,
    ...rest,
  };
}

const WELL: Parameters<typeof warningsOf>[0] = {
  status: {
    redis: { ok: true, milliseconds: 1 },
    apiServer: { ok: true, milliseconds: 1 },
    leader: 'watcher-1',
    lagSeconds: 60,
    owed: { workloads: 1, oldest: '2026-11-21T11:50:00.000Z' },
    frozen: null,
  },
  processes: [process('watcher'), process('worker')],
  paused: [],
  now: NOW,
};

describe('what somebody should look at', () => {
  it('is nothing while all is well', () => {
    expect(warningsOf(WELL)).toEqual([]);
  });

  it.each<[Partial<typeof WELL> & { of?: Partial<(typeof WELL)['status']> }, string]>([
    [{ processes: undefined }, 'Redis does not respond, so nothing else is known.'],
    [
      { of: { apiServer: { ok: false, milliseconds: null } } },
      'The API server does not respond to the admin.',
    ],
    [
      { of: { redis: { ok: true, milliseconds: 1, full: true, usedRatio: 0.957 } } },
      'Redis is full (96 % of maxmemory): the history is dropped and not written. Reloads continue.',
    ],
    [
      { of: { redis: { ok: true, milliseconds: 1, full: true } } },
      'Redis is full: the history is dropped and not written. Reloads continue.',
    ],
    [{ of: { leader: null } }, 'No watcher leads: changes are not seen.'],
    [{ processes: [process('watcher')] }, 'No worker is running: nothing is reloaded.'],
    [
      { processes: [process('watcher'), process('worker', { isLive: false })] },
      'No worker is running: nothing is reloaded.',
    ],
    [
      { processes: [process('worker', { settings: { ...EXPLAIN_SETTINGS, dryRun: true } })] },
      'The workers run with --dry-run: nothing is reloaded.',
    ],
    [
      { processes: [process('watcher', { version: '7.2.0' }), process('worker')] },
      'Processes of several versions run: 7.1.0, 7.2.0.',
    ],
    [{ of: { lagSeconds: 61 } }, 'A job has waited for a worker for 61 s.'],
    [
      { of: { owed: { workloads: 1, oldest: '2026-11-21T11:49:00.000Z' } } },
      'A workload has been pending for 660 s.',
    ],
    [{ paused: ['reloads'] }, 'The queue reloads is paused.'],
  ])('%# is told in a sentence', ({ of, ...rest }, sentence) => {
    expect(warningsOf({ ...WELL, ...rest, status: { ...WELL.status, ...of } })).toEqual([sentence]);
  });
});
