import type { ServerResponse } from 'node:http';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import type { HistoryEntry } from '@reroll/shared/api/workloads';
import { describe, expect, it } from 'vitest';
import { changeSummary, DB, status, WEB } from '../testing/answers.ts';
import { runCli, type Ran } from '../testing/run-cli.ts';
import { problem, stubAdmin, type StubAnswer, type StubRequest } from '../testing/stub-admin.ts';

type Stream = (response: ServerResponse, request: StubRequest) => void;

function send(response: ServerResponse, id: string, event?: string, data?: unknown): void {
  const named = event === undefined ? '' : `event: ${event}\ndata: ${JSON.stringify(data)}\n`;
  response.write(`id: ${id}\n${named}\n`);
}

function outcome(changed: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    change: '1763737200123-0',
    source: DB,
    cause: 'updated',
    workload: WEB,
    state: 'reloaded',
    reason: 'AutoReload',
    at: '2026-11-21T14:56:43.000Z',
    rolled: ['Secret/db'],
    error: null,
    ...changed,
  };
}

/** Watches until `until` is printed; the next of `streams` handles each connection. */
async function watch(
  streams: readonly (Stream | StubAnswer)[],
  {
    words = [],
    until,
    lists = [[changeSummary()]],
  }: {
    words?: readonly string[];
    until: string;
    /** What the list has, each time; the last stays. */
    lists?: readonly (readonly ChangeSummary[])[];
  },
): Promise<
  Ran & {
    readonly lastEventIds: readonly (string | undefined)[];
    readonly listQueries: readonly Record<string, string>[];
  }
> {
  const left = [...streams];
  const listsLeft = [...lists];
  let list: readonly ChangeSummary[] = [];
  const admin = await stubAdmin((request) => {
    if (request.path === '/api/v1/status') return { body: status() };
    if (request.path === '/api/v1/changes') {
      const cursor = request.query.get('cursor');
      if (cursor === null) list = listsLeft.shift() ?? list;
      const from = Number(cursor ?? 0);
      const to = from + Number(request.query.get('limit'));
      return { body: { items: list.slice(from, to), next: to < list.length ? String(to) : null } };
    }
    const next = left.shift();
    if (typeof next !== 'function') return next;
    return (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      next(response, request);
    };
  });
  const stop = new AbortController();
  const told = await runCli(['changes', '-n', 'shop', '--server', admin.url, ...words], {
    signal: stop.signal,
    onOutput: (out, err) => {
      if ((out + err).includes(until)) stop.abort();
    },
  });
  const events = admin.requests.filter(({ path }) => path === '/api/v1/events');
  return {
    ...told,
    lastEventIds: events.map(({ headers }) => headers['last-event-id'] as string | undefined),
    listQueries: admin.requests
      .filter(({ path }) => path === '/api/v1/changes')
      .map(({ query }) => Object.fromEntries(query)),
  };
}

describe('changes --watch', () => {
  it('prints the past, then what happens, each once, also if the list and the stream both tell it', async () => {
    const told = await watch(
      [
        (response) => {
          send(response, 'p0');
          send(response, 'p1', 'change', changeSummary());
          send(response, 'p2', 'outcome', outcome());
          send(
            response,
            'p3',
            'outcome',
            outcome({ state: 'failed', reason: 'Conflicting', error: 'KUBE_API\u001b[2J' }),
          );
          send(response, 'p4', 'rollout', {
            workload: WEB,
            at: '2026-11-21T14:57:00.000Z',
            rollout: { state: 'complete', code: 'Complete' },
          });
        },
      ],
      { words: ['--watch'], until: 'Complete' },
    );
    expect(told.out.split('\n').map((line) => line.trimEnd())).toEqual([
      'TIME                   NAMESPACE        SOURCE                       WORKLOAD                     STATE          REASON',
      '2026-11-21T14:56:40Z   shop             secret/db                    2 rolledOut, 1 failed        updated        change 1763737200123-0',
      '2026-11-21T14:56:43Z   shop             secret/db                    deployment/web               reloaded       AutoReload',
      String.raw`2026-11-21T14:56:43Z   shop             secret/db                    deployment/web               failed         Conflicting: KUBE_API\u001b[2J`,
      '2026-11-21T14:57:00Z   shop             <none>                       deployment/web               rolledOut      Complete',
      '',
    ]);
    expect(told.err).toBe('');
  });

  it('a connection that breaks is taken up where it was, be it by a heartbeat; a refusal by something on the way too', async () => {
    const told = await watch(
      [
        (response) => {
          send(response, 'p0');
          send(response, 'p1', 'outcome', outcome({ reason: 'AutoReloadAll' }));
          response.write('id: p2\n\n', () => response.destroy());
        },
        { status: 502, body: { kind: 'Status', message: 'bad\u001b[2J\ngateway' } },
        (response) => send(response, 'p3', 'outcome', outcome({ reason: 'SearchMatch' })),
      ],
      { words: ['--watch-only', '-o', 'json'], until: 'SearchMatch' },
    );
    expect(told.lastEventIds).toEqual([undefined, 'p2', 'p2']);
    const lines = told.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string; data: HistoryEntry });
    expect(lines.map(({ event, data }) => [event, data.reason])).toEqual([
      ['outcome', 'AutoReloadAll'],
      ['outcome', 'SearchMatch'],
    ]);
    expect(told.err).toBe(
      [
        'Lost the admin (the connection broke (UND_ERR_SOCKET)); trying again.',
        String.raw`Lost the admin (answered 502: bad\u001b[2J\u000agateway); trying again.`,
        'Connected again.',
        '',
      ].join('\n'),
    );
  });

  it('if entries are gone meanwhile it says so and prints the list', async () => {
    const told = await watch([(response) => send(response, 'p9', 'reset', { reason: 'trimmed' })], {
      words: ['--watch', '--limit', '5'],
      until: 'the list again',
    });
    expect(told.err).toBe('The admin no longer has all that happened since; the list again:\n');
  });

  describe('after a gap', () => {
    const one = (id: string, states: ChangeSummary['states'] = { rolledOut: 1 }): ChangeSummary =>
      changeSummary({ id, states });
    const reset: Stream = (response) => send(response, 'p9', 'reset', { reason: 'trimmed' });

    /** The states and the change of each line about a change. */
    function linesOf({ out }: Ran): string[] {
      const lines = out.trim().split('\n').slice(1);
      return lines
        .map((line) => line.split(/ {2,}/))
        .map((cells) => `${cells[3]} ${cells[5]}`)
        .filter((line) => line.includes('change '));
    }

    it('prints what became of changes that it had printed, and only of those that changed', async () => {
      const told = await watch([reset], {
        words: ['--watch'],
        lists: [
          [one('2-0', { pending: 1 }), one('1-0')],
          [one('3-0'), one('2-0', { failed: 1 }), one('1-0')],
        ],
        until: 'change 3-0',
      });
      expect(linesOf(told)).toEqual([
        '1 rolledOut change 1-0',
        '1 pending change 2-0',
        '1 failed change 2-0',
        '1 rolledOut change 3-0',
      ]);
    });

    it('prints no change again whose states the stream has told, or tells in other words', async () => {
      const told = await watch(
        [
          (response, request) => {
            const ofChange = { change: '2-0' } as const;
            send(response, 'p1', 'change', one('2-0', { pending: 3 }));
            send(response, 'p2', 'outcome', outcome({ ...ofChange, state: 'retrying' }));
            send(response, 'p3', 'outcome', outcome(ofChange));
            const rolledOut = { workload: WEB, at: '2026-11-21T14:57:00.000Z' };
            send(response, 'p4', 'rollout', {
              ...rolledOut,
              rollout: { state: 'complete', code: 'Complete' },
            });
            reset(response, request);
          },
        ],
        {
          words: ['--watch'],
          lists: [
            [one('1-0')],
            [one('3-0'), one('2-0', { rolledOut: 1, running: 1, delayed: 1 }), one('1-0')],
          ],
          until: 'change 3-0',
        },
      );
      expect(linesOf(told)).toEqual([
        '1 rolledOut change 1-0',
        '3 pending change 2-0',
        '1 rolledOut change 3-0',
      ]);
    });

    it('prints none of two changes again that one reload was for', async () => {
      const told = await watch(
        [
          (response, request) => {
            const otherChanges = [{ change: '2-0', state: 'recorded' }] as const;
            send(response, 'p1', 'outcome', outcome({ change: '1-0', otherChanges: [...otherChanges] }));
            reset(response, request);
          },
        ],
        {
          words: ['--watch'],
          lists: [
            [one('2-0', { pending: 1 }), one('1-0', { pending: 1 })],
            [one('3-0'), one('2-0', { recorded: 1 }), one('1-0', { reloaded: 1 })],
          ],
          until: 'change 3-0',
        },
      );
      expect(linesOf(told)).toEqual([
        '1 pending change 1-0',
        '1 pending change 2-0',
        '1 rolledOut change 3-0',
      ]);
    });

    it('prints no change again that was held at first', async () => {
      const told = await watch(
        [
          (response, request) => {
            send(response, 'p1', 'outcome', outcome({ change: '2-0', state: 'reloaded' }));
            reset(response, request);
          },
        ],
        {
          words: ['--watch'],
          lists: [
            [one('2-0', { held: 1 }), one('1-0')],
            [one('3-0'), one('2-0', { reloaded: 1 }), one('1-0')],
          ],
          until: 'change 3-0',
        },
      );
      expect(linesOf(told)).toEqual([
        '1 rolledOut change 1-0',
        '1 held change 2-0',
        '1 rolledOut change 3-0',
      ]);
    });

    it.each([
      ['--workload', 'deploy/web'],
      ['--state', 'failed'],
    ])('with %s %s it prints no change whose outcomes it has printed', async (...filter) => {
      const told = await watch(
        [
          (response, request) => {
            send(response, 'p1', 'change', one('2-0', { pending: 1 }));
            send(response, 'p2', 'outcome', outcome({ change: '2-0', state: 'failed', reason: 'Forbidden' }));
            send(response, 'p3', 'change', one('3-0', { pending: 1 }));
            reset(response, request);
          },
        ],
        {
          words: ['--watch-only', ...filter],
          lists: [[], [one('3-0', { failed: 1 }), one('2-0', { failed: 1 })]],
          until: 'change 3-0',
        },
      );
      expect(told.out).toContain('Forbidden');
      expect(linesOf(told)).toEqual(['1 failed change 3-0']);
    });

    it('prints all changes since those that it printed first, however many --limit are', async () => {
      const told = await watch([reset], {
        words: ['--watch', '--limit', '2'],
        lists: [
          ['3-0', '2-0', '1-0'].map((id) => one(id)),
          ['6-0', '5-0', '4-0', '3-0', '2-0', '1-0'].map((id) => one(id)),
        ],
        until: 'change 6-0',
      });
      expect(linesOf(told)).toEqual([2, 3, 4, 5, 6].map((at) => `1 rolledOut change ${at}-0`));
    });

    it('--watch-only prints the changes since it began, by the order of the admin and not by a clock', async () => {
      const told = await watch([reset], {
        words: ['--watch-only'],
        lists: [
          [one('2-0', { pending: 1 }), one('1-0')],
          [
            changeSummary({ id: '3-0', seenAt: '2001-01-01T00:00:00.000Z', states: { pending: 1 } }),
            one('2-0'),
            one('1-0'),
          ],
        ],
        until: 'change 3-0',
      });
      expect(linesOf(told)).toEqual(['1 rolledOut change 2-0', '1 pending change 3-0']);
      expect(told.listQueries.filter((query) => 'since' in query)).toEqual([]);
    });
  });

  it('--watch-only prints a change that the list has already when the stream tells it', async () => {
    const told = await watch([(response) => send(response, 'p1', 'change', changeSummary())], {
      words: ['--watch-only'],
      until: 'change 1763737200123-0',
    });
    expect(told.out).toContain('change 1763737200123-0');
  });

  it('prints only what the filters of the list ask for, and passes over events that it does not know', async () => {
    const told = await watch(
      [
        (response) => {
          send(response, 'p0', 'weather', { sunny: true });
          send(response, 'p1', 'outcome', outcome({ reason: 'AutoReloadAll', state: 'skipped' }));
          send(response, 'p2', 'outcome', outcome({ reason: 'SearchMatch', state: 'failed' }));
        },
      ],
      { words: ['--watch-only', '--state', 'failed'], until: 'SearchMatch' },
    );
    expect(told.out).not.toContain('AutoReloadAll');
  });

  const rollout = (name: string, state: 'progressing' | 'complete', code: string) => ({
    workload: { ...WEB, name },
    at: '2026-11-21T14:57:00.000Z',
    rollout: { state, code },
  });
  const other = { ...DB, name: 'other' };

  it.each([
    [
      ['--source', 'secret/db'],
      ['change 1', 'AutoReload', 'InStep', 'OurProgress', 'OurEnd'],
    ],
    [
      ['--cause', 'updated'],
      ['change 1', 'AutoReload', 'InStep', 'OurProgress', 'OurEnd'],
    ],
    [['--source', 'secret/db', '--state', 'rolledOut'], ['OurEnd']],
    [['--source', 'secret/second', '--state', 'rolledOut'], ['TheirEnd']],
    [
      ['--state', 'rolledOut'],
      ['OurEnd', 'LaterEnd', 'TheirEnd'],
    ],
    [
      ['--state', 'pending'],
      ['change 1', 'change 2'],
    ],
    [
      ['--workload', 'deploy/web'],
      ['AutoReload', 'OurProgress', 'OurEnd', 'LaterEnd'],
    ],
  ])('with %j it prints the rollouts of what the filters ask for, too', async (words, expected) => {
    const told = await watch(
      [
        (response) => {
          const states = { pending: 1 };
          send(response, 'p1', 'change', changeSummary({ id: '1-0', states }));
          send(
            response,
            'p2',
            'change',
            changeSummary({ id: '2-0', source: other, cause: 'created', states }),
          );
          send(response, 'p3', 'outcome', outcome({ reason: 'AutoReload' }));
          // Of the other source, which the source of the change has nothing to do with.
          const skips = { workload: { ...WEB, name: 'theirs' }, state: 'skipped' } as const;
          send(response, 'p4', 'outcome', outcome({ ...skips, rolled: [], reason: 'InStep' }));
          const theirs = { workload: { ...WEB, name: 'theirs' }, source: other, cause: 'created' } as const;
          const rolled = ['Secret/other', 'Secret/second'];
          send(response, 'p4', 'outcome', outcome({ ...theirs, rolled, reason: 'SearchMatch' }));
          send(response, 'p5', 'rollout', rollout('web', 'progressing', 'OurProgress'));
          send(response, 'p6', 'rollout', rollout('web', 'complete', 'OurEnd'));
          // By somebody else.
          send(response, 'p7', 'rollout', rollout('web', 'complete', 'LaterEnd'));
          send(response, 'p8', 'rollout', rollout('theirs', 'complete', 'TheirEnd'));
          send(response, 'p9', 'reset', { reason: 'trimmed' });
        },
      ],
      { words: ['--watch-only', ...words], until: 'the list again' },
    );
    const lines = told.out.trim().split('\n').slice(1);
    expect(lines.map((line) => line.split('   ').at(-1)?.trim().replace(/-0$/, ''))).toEqual(expected);
  });

  it('awaits the rollouts of ten thousand workloads, the latest', async () => {
    const told = await watch(
      [
        (response) => {
          // One is reloaded again before its rollout is complete.
          for (const at of [...Array(10_000).keys(), 0, 10_000])
            send(response, `p${at}`, 'outcome', outcome({ workload: { ...WEB, name: `w-${at}` } }));
          for (const at of [0, 1, 2, 10_000])
            send(response, 'q', 'rollout', rollout(`w-${at}`, 'complete', `End${at}`));
          send(response, 'r', 'reset', { reason: 'trimmed' });
        },
      ],
      { words: ['--watch-only', '--source', 'secret/db', '--state', 'rolledOut'], until: 'the list again' },
    );
    const lines = told.out.trim().split('\n').slice(1);
    expect(lines.map((line) => line.split('   ').at(-1)?.trim())).toEqual(['End0', 'End2', 'End10000']);
  });

  it('ends with the problem if the admin refuses, and is not tried again', async () => {
    const told = await watch([problem(403, 'Forbidden', { detail: 'no' })], {
      words: ['--watch'],
      until: 'never',
    });
    expect([told.code, told.err.split('\n')[0], told.lastEventIds.length]).toEqual([
      1,
      'error: title of Forbidden: no',
      1,
    ]);
  });
});
