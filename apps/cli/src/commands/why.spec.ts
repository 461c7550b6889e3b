import { expect, it } from 'vitest';
import { DB, workload } from '../testing/answers.ts';
import { runCli } from '../testing/run-cli.ts';
import { stubAdmin } from '../testing/stub-admin.ts';

it('why tells what is pending and held, sources that do not reload it, and earlier reloads', async () => {
  const { sourcesInDetail, history } = workload();
  const [dependency] = sourcesInDetail;
  const [reload] = history;
  if (!dependency || !reload) throw new Error('expected a source and a reload');
  const settings = { ...DB, kind: 'ConfigMap', name: 'settings' } as const;
  const told = workload({
    due: 'owed',
    hold: { reason: 'Frozen', detail: 'year-end', id: null },
    sourcesInDetail: [
      { ...dependency, due: 'owed' },
      {
        ...dependency,
        source: settings,
        rolls: false,
        reason: 'SourceExcluded',
        detail: 'it is excluded',
        exists: false,
      },
    ],
    history: [
      { ...reload, rolled: ['ConfigMap/settings', 'Secret/db'] },
      { ...reload, change: null, state: 'skipped', reason: 'InStep', at: '2026-11-21T13:00:00.000Z' },
    ],
  });
  const { url } = await stubAdmin(({ path }) => (path.includes('/workloads/') ? { body: told } : undefined));
  const { out, code } = await runCli(['why', 'deploy/web', '-n', 'shop', '--server', url]);
  expect([code, out.split('\n')]).toEqual([
    0,
    [
      'Reroll reloaded deployment/web 60m ago, because secret/db was updated and configmap/settings had changed (change 1763737200123-0, AutoReload). Its pods were replaced.',
      '├─ Rollout   complete (Complete, 2 of 2 pods ready)',
      '├─ Pending   a reload',
      '├─ Held      Frozen: year-end',
      '├─ Sources',
      '│  ├─ secret/db            reloads it (AutoReload); a reload for it is pending: it uses the source',
      '│  └─ configmap/settings   does not reload it (SourceExcluded); does not exist: it is excluded',
      '└─ Earlier',
      '   └─ 120m ago   skipped: secret/db updated (InStep)',
      '',
    ],
  ]);
});

it('why tells who asked for a reload that was pending for a change', async () => {
  const [reload] = workload().history;
  if (!reload) throw new Error('expected a reload');
  const told = workload({ history: [{ ...reload, request: { actor: 'ann', reason: 'outage' } }] });
  const { url } = await stubAdmin(({ path }) => (path.includes('/workloads/') ? { body: told } : undefined));
  const { out } = await runCli(['why', 'deploy/web', '-n', 'shop', '--server', url]);
  expect(out.split('\n')[0]).toContain('because secret/db was updated, and ann asked for it: outage (change');
});

it.each([
  [{}, 'Reroll may have reloaded it before the history begins.'],
  [
    { historyFrom: '2026-11-14T09:00:00.000Z' },
    'It begins at 2026-11-14T09:00:00.000Z; Reroll may have reloaded the workload before.',
  ],
])('why claims nothing of a time before the history: %j', async (from, before) => {
  const told = workload({ history: [], ...from });
  const { url } = await stubAdmin(({ path }) => (path.includes('/workloads/') ? { body: told } : undefined));
  const { out } = await runCli(['why', 'deploy/web', '-n', 'shop', '--server', url]);
  expect(out.split('\n')[0]).toBe(`The history has no reload of deployment/web. ${before}`);
});

it.each([
  ['manual', 'because a user asked for it'],
  [null, 'for a reason that the history no longer has'],
] as const)(
  'why tells of a reload without sources, whose cause is %s and whose change is gone',
  async (cause, text) => {
    const [reload] = workload().history;
    if (!reload) throw new Error('expected a reload');
    const told = workload({ history: [{ ...reload, cause, source: null, rolled: [], reason: 'Requested' }] });
    const { url } = await stubAdmin(({ path }) =>
      path.includes('/workloads/') ? { body: told } : undefined,
    );
    const { out } = await runCli(['why', 'deploy/web', '-n', 'shop', '--server', url]);
    expect(out.split('\n')[0]).toBe(
      `Reroll reloaded deployment/web 60m ago, ${text} (change 1763737200123-0, Requested). Its pods were replaced.`,
    );
  },
);

it.each([
  [['why', 'deploy/web']],
  [['why-not', 'deploy/web', '--source', 'secret/db']],
  [['preview', 'secret/db']],
])('%j takes no flags of Reroll if the admin is asked', async (words) => {
  const { url, requests } = await stubAdmin(() => undefined);
  const told = await runCli([...words, '-n', 'shop', '--server', url, '--', '--auto-reload-all']);
  expect([told.code, told.out, requests]).toEqual([2, '', []]);
  expect(told.err).toBe('error: expected --direct with flags after --, given "--auto-reload-all"\n');
});
