import type { Browser } from 'playwright-core';
import type { Change } from '@reroll/shared/api/changes';
import type { Waves } from '@reroll/shared/api/waves';
import type { Source, WorkloadSummary } from '@reroll/shared/api/workloads';
import { beforeAll, describe, expect, it } from 'vitest';
import { AdminApi, OPERATOR, TOKENS, tokensFile } from '../support/admin/admin-api.ts';
import { openBrowser, Reader } from '../support/admin/browser.ts';
import { auto, deployment, secret, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { inStep } from '../support/objects/rollouts.ts';
import { startReroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

let space: Space;
let api: AdminApi;
let browser: Browser;
let url: string;
/** The id of a change of the Secret. */
let change: string;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  await space.apply(secret('db', { password: 'one' }), deployment('web', auto(), usingEnvFrom('Secret/db')));
  const adminFlags = ['--auth=static', `--static-tokens-file=${tokensFile([OPERATOR])}`];
  const reroll = await startReroll({ cluster, namespaces: [space], admins: 1, adminFlags });
  await inStep(space, 'Deployment/web', ['Secret/db']);
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  api = new AdminApi(admin);
  url = `${await admin.apiUrl()}/`;
  await space.setData('Secret/db', { password: 'two' });
  change = await eventually(async () => {
    const { items } = await api.call('listChanges', { query: { source: `Secret/${space.name}/db` } });
    return items.find(({ states }) => states.rolledOut === 1)?.id;
  });
  browser = await openBrowser();
});

async function reader(more: object = {}): Promise<Reader> {
  return await Reader.open(browser, { url, token: TOKENS.operator, ...more });
}

/** Paths and queries that the API is asked for from now on. */
function asked(me: Reader): URL[] {
  const requests: URL[] = [];
  me.page.on('request', (request) => {
    const to = new URL(request.url());
    if (to.pathname.includes('/api/v1/')) requests.push(to);
  });
  return requests;
}

/** With a date in the hour after midnight. */
const TIME = String.raw`(?:\d+ \w+, )?\d\d:\d\d`;
const ref = (name: string) => ({ kind: 'Deployment' as const, namespace: space.name, name });
const nameOf = (at: number): string => `w-${String(at).padStart(3, '0')}`;

describe('the timeline', () => {
  it('selects a time by keys and by a drag, the changes are of that time, and the selection is cleared', async () => {
    const me = await reader();
    const requests = asked(me);
    await me.visit('', 'Overview');
    const timeline = me.page.getByRole('region', { name: 'Timeline' });
    const from = timeline.getByRole('slider', { name: 'From' });
    const to = timeline.getByRole('slider', { name: 'To' });
    await from.press('End');
    expect(await from.getAttribute('aria-valuetext')).toMatch(new RegExp(`^${TIME}$`, 'u'));
    const latest = me.page.getByRole('region', {
      name: new RegExp(`^Changes from ${TIME} to ${TIME}$`, 'u'),
    });
    await latest.getByRole('link', { name: `${space.name}/db` }).waitFor();
    await to.press('Home');
    expect([await from.inputValue(), await to.inputValue()]).toEqual(['59', '60']);
    await me.accessible();
    await timeline.getByRole('button', { name: 'Clear selection' }).click();
    await me.page.getByRole('region', { name: 'Latest changes' }).waitFor();

    const box = (await timeline.getByRole('img').boundingBox()) ?? expect.fail('expected a picture');
    const at = (part: number): [number, number] => [box.x + box.width * part, box.y + box.height / 2];
    await me.page.mouse.move(...at(0.51));
    await me.page.mouse.down();
    await me.page.mouse.move(...at(0.26), { steps: 3 });
    await me.page.mouse.up();
    await latest.getByText('No change in the selected time.').waitFor();
    expect([await from.inputValue(), await to.inputValue()]).toEqual(['15', '31']);
    const last = requests.findLast(({ searchParams }) => searchParams.has('until'));
    const [since, until] = ['since', 'until'].map((name) => Date.parse(last?.searchParams.get(name) ?? ''));
    expect((until ?? 0) - (since ?? 0)).toBe(16 * 60_000);

    await latest.getByRole('link', { name: 'All of this time' }).click();
    await me.heading('Changes');
    await me.page.getByText('No change in the history matches these filters.').waitFor();
    await me.page.getByLabel('State', { exact: true }).selectOption('failed');
    await me.page.getByRole('button', { name: 'Filter' }).click();
    await me.page.waitForURL(/from=.*until=.*state=failed|state=failed.*from=.*until=/);
    await me.page.getByRole('button', { name: 'Clear selection' }).click();
    await me.page.waitForURL((now) => !now.hash.includes('until='));
    me.behaved();
  });
});

describe('a source with two hundred workloads', () => {
  /** What the API says of them: two stuck, thirty pending, ten that are not reloaded, the others current. */
  async function crowd(me: Reader): Promise<void> {
    const known = await api.call('getSource', {
      params: { kind: 'Secret', namespace: space.name, name: 'db' },
    });
    const [like] = known.workloadsInDetail;
    if (!like) throw new Error('expected a workload');
    const workloadsInDetail: Source['workloadsInDetail'] = Array.from({ length: 200 }, (_, at) => ({
      ...like,
      workload: { ...ref(nameOf(at)), kind: at % 4 === 0 ? 'StatefulSet' : 'Deployment' },
      ...(at >= 190 ? { rolls: false, recorded: null } : {}),
      due: at < 30 ? 'owed' : null,
    }));
    await me.page.route(`**/api/v1/sources/Secret/${space.name}/db`, async (route) => {
      await route.fulfill({ json: { ...known, workloadsInDetail } });
    });
    const { items } = await api.call('listWorkloads', { query: { name: 'web' } });
    const at = '2026-11-21T15:00:00.000Z';
    const lastReload = { at, reason: 'Reloaded' as const, change: null, rolled: ['Secret/db'] };
    await me.page.route(/\/api\/v1\/workloads\?.*rollout=stuck/, async (route) => {
      const stuck: WorkloadSummary[] = [101, 102].flatMap((at) =>
        items.map((each) => ({ ...each, name: nameOf(at), rollout: 'stuck' as const, lastReload })),
      );
      await route.fulfill({ json: { items: stuck, next: null } });
    });
  }

  it('shows them in groups by state or kind, which open by keys, and the table in portions', async () => {
    const me = await reader();
    await crowd(me);
    await me.visit(`sources/Secret/${space.name}/db`, 'db');
    const section = me.page.getByRole('region', { name: 'Dependent workloads' });
    const groups = section.locator('.tree summary');
    await section.getByText('2 stuck').waitFor();
    expect(await groups.locator('.badge').allTextContents()).toEqual([
      '2 stuck',
      '30 pending',
      '158 current',
      '10 not reloaded',
    ]);
    const member = section.locator('.tree').getByRole('link', { name: nameOf(101) });
    await member.waitFor();
    const pending = section.locator('.tree').getByRole('link', { name: nameOf(0) });
    expect(await pending.isVisible()).toBe(false);
    await groups.nth(1).press('Enter');
    await pending.waitFor();
    await me.accessible();
    await me.page.setViewportSize({ width: 360, height: 740 });
    expect(await me.tooWideBy()).toBeLessThanOrEqual(0);
    await me.accessible();
    await section.getByLabel('kind', { exact: true }).check();
    await section.getByText('150 Deployments').waitFor();
    expect(await section.getByRole('row').count()).toBe(1 + 10);
    await section.getByRole('button', { name: 'Show 10 more of 200 workloads' }).click();
    expect(await section.getByRole('row').count()).toBe(1 + 20);
    me.behaved();
  });

  it('says that the rollouts are not known if they are not, and shows the rest', async () => {
    const me = await reader();
    await crowd(me);
    const problem = { title: 'Redis cannot be reached', status: 503, code: 'Unavailable' };
    await me.page.route(/\/api\/v1\/workloads\?.*rollout=progressing/, async (route) => {
      await route.fulfill({ status: 503, contentType: 'application/problem+json', json: problem });
    });
    await me.visit(`sources/Secret/${space.name}/db`, 'db');
    const section = me.page.getByRole('region', { name: 'Dependent workloads' });
    await section.getByRole('alert').getByText('Redis cannot be reached.').waitFor();
    await section.getByText('30 pending').waitFor();
    me.behaved(/status of 503/);
  });
});

it('a change of a source is previewed where the source is shown', async () => {
  const me = await reader();
  await me.visit(`sources/Secret/${space.name}/db`, 'db');
  const section = me.page.getByRole('region', { name: 'Preview a change' });
  await section.getByText('Nothing is sent to the cluster.').waitFor();
  await section.getByRole('button', { name: 'Preview' }).click();
  await section.getByRole('row', { name: /web/ }).getByText('Reload', { exact: true }).waitFor();
  await section.getByRole('status').getByText('1 workload would reload').waitFor();
  await me.accessible();
  me.behaved();
});

it('a workload shows in which state each source is', async () => {
  const me = await reader();
  await me.visit(`workloads/Deployment/${space.name}/web`, 'web');
  const section = me.page.getByRole('region', { name: 'Sources' });
  await section
    .locator('.tree')
    .getByRole('link', { name: /db.*Current/ })
    .waitFor();
  await section
    .getByRole('row', { name: `${space.name}/db` })
    .getByText('Current')
    .waitFor();
  me.behaved();
});

it('a change of hundreds says what is held and in which wave each is, and draws ten timelines', async () => {
  const me = await reader();
  const known = await api.call('getChange', { params: { id: change } });
  const [like] = known.workloads;
  if (!like) throw new Error('expected a workload');
  const held = { state: 'held', outcome: 'AwaitsWave', detail: 'wave 2 of 2 waits' } as const;
  const workloads: Change['workloads'] = Array.from({ length: 120 }, (_, at) => ({
    ...like,
    workload: ref(nameOf(at)),
    ...(at < 20 ? {} : held),
  }));
  const members = (from: number, to: number) =>
    workloads
      .slice(from, to)
      .map(({ workload }) => ({ workload, reloaded: from === 0, detail: 'is pending' }));
  const waves: Waves = {
    hash: known.to,
    waves: '20,100%',
    bake: null,
    problem: null,
    halted: null,
    resumed: false,
    plan: [
      { state: 'baking', until: null, size: 20, reloaded: 20, workloads: members(0, 20) },
      { state: 'waiting', until: null, size: 100, reloaded: 0, workloads: members(20, 120) },
    ],
  };
  await me.page.route(`**/api/v1/changes/${change}`, async (route) => {
    await route.fulfill({ json: { ...known, workloads } });
  });
  await me.page.route('**/api/v1/sources/*/*/*/waves', async (route) => {
    await route.fulfill({ json: waves });
  });
  await me.visit(`changes/${change}`, 'Secret db changed');
  const holds = me.page.getByRole('region', { name: 'Held' });
  await holds.getByText('100 workloads').waitFor();
  await holds.getByText('Wave 2 of 2 waits').waitFor();
  const list = me.page.getByRole('region', { name: 'Workloads' });
  await list.getByText('100 held').waitFor();
  await list.getByText('wave 2 of 2: waiting').first().waitFor();
  const timelines = list.getByRole('list', { name: /^Timeline of/ });
  expect(await timelines.count()).toBe(10);
  await list.getByRole('button', { name: 'Show 10 more of 120 workloads' }).click();
  expect(await timelines.count()).toBe(20);
  await me.accessible();
  me.behaved();
});

it.each([360, 768, 1280])('names of any length fit into %i pixels', async (width) => {
  const me = await reader({ viewport: { width, height: 740 } });
  const at = new Date().toISOString();
  const job = { id: 'reloads:12345', queue: 'reloads', state: 'delayed', subject: 'Deployment/shop/web' };
  const times = { since: at, createdAt: at, startedAt: null, endedAt: null, until: at };
  const jobs = [{ ...job, ...times, attempts: { made: 0, most: 5 }, error: null }];
  await me.page.route(/\/api\/v1\/jobs$/, (route) => route.fulfill({ json: { items: jobs, next: null } }));
  await me.page.route(/\/api\/v1\/workloads$/, async (route) => {
    const response = await route.fetch();
    const { items } = (await response.json()) as { items: { name: string }[] };
    const long = items.map((item) => ({ ...item, namespace: 'n'.repeat(63), name: 'a'.repeat(253) }));
    await route.fulfill({ json: { items: long.slice(0, 1), next: null } });
  });
  await me.visit('workloads', 'Workloads');
  await me.page.getByRole('link', { name: 'aaa' }).waitFor();
  expect(await me.tooWideBy()).toBeLessThanOrEqual(0);
  await me.visit('jobs', 'Jobs');
  await me.page.getByRole('link', { name: 'reloads:12345' }).waitFor();
  expect(await me.tooWideBy()).toBeLessThanOrEqual(0);
  me.behaved();
});

describe('the API is asked', () => {
  it('for each list of the overview once, and for suggestions only when somebody types', async () => {
    const me = await reader();
    const requests = asked(me);
    await me.visit('', 'Overview');
    await me.page.getByText('everything is reloaded.').waitFor();
    await me.loaded();
    const lists = requests.map(({ pathname, searchParams }) => {
      searchParams.delete('since');
      return `${pathname.replace(/.*\/api\/v1/, '')}?${searchParams.toString()}`;
    });
    expect(lists.filter((each) => each.startsWith('/workloads?')).toSorted()).toEqual([
      '/workloads?due=failed&limit=200',
      '/workloads?due=owed&limit=200',
      '/workloads?due=stale&limit=200',
      '/workloads?limit=200',
      '/workloads?rollout=progressing&limit=200',
      '/workloads?rollout=stuck&limit=200',
    ]);
    expect(new Set(lists).size).toBe(lists.length);
    requests.length = 0;
    await me.visit(`explain?workload=Deployment/${space.name}/web`, 'Explain');
    await me.visit('preview', 'Preview');
    const field = me.page.getByLabel('Source', { exact: true });
    await field.focus();
    await field.pressSequentially('d');
    await me.page.getByRole('option', { name: `Secret ${space.name}/db` }).waitFor();
    expect(requests.filter(({ pathname }) => /\/(sources|workloads)$/.test(pathname)).length).toBe(1);
    me.behaved();
  });
});
