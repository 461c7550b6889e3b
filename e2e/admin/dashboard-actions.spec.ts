import type { Browser, Locator } from 'playwright-core';
import type { Status } from '@reroll/shared/api/status';
import type { WorkloadSummary } from '@reroll/shared/api/workloads';
import { beforeAll, describe, expect, it } from 'vitest';
import { AdminApi, OPERATOR, TOKENS, tokensFile } from '../support/admin/admin-api.ts';
import { openBrowser, Reader } from '../support/admin/browser.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { auto, deployment, secret, usingEnvFrom } from '../support/objects/builders.ts';
import { inStep } from '../support/objects/rollouts.ts';
import { startReroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

let space: Space;
let api: AdminApi;
let browser: Browser;
let url: string;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  await space.apply(
    secret('db', { password: 'one' }),
    ...['web-1', 'web-2', 'api'].map((name) => deployment(name, auto(), usingEnvFrom('Secret/db'))),
  );
  const adminFlags = ['--auth=static', `--static-tokens-file=${tokensFile([OPERATOR])}`];
  const reroll = await startReroll({ cluster, namespaces: [space], admins: 1, adminFlags });
  for (const name of ['web-1', 'web-2', 'api']) await inStep(space, `Deployment/${name}`, ['Secret/db']);
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  api = new AdminApi(admin);
  url = `${await admin.apiUrl()}/`;
  browser = await openBrowser();
});

async function reader(): Promise<Reader> {
  return await Reader.open(browser, { url, token: TOKENS.operator });
}

/** Of a phone at night. */
async function small(me: Reader): Promise<void> {
  await me.page.setViewportSize({ width: 360, height: 740 });
  await me.page.emulateMedia({ colorScheme: 'dark' });
}

const focused = (me: Reader): Promise<string> =>
  me.page.evaluate<string>('document.activeElement.textContent.trim()');

const WEBS = (): string => `workloads?namespace=${space.name}&name=web`;

describe('all workloads that the filters select', () => {
  it('are reloaded by keys alone, once it was shown which: with their results, and the focus on these', async () => {
    const me = await reader();
    await me.visit(WEBS(), 'Workloads');
    const group = me.page.getByRole('group', { name: 'All workloads that match' });
    await group.getByRole('button', { name: 'Reload all' }).press('Enter');
    const dialog = me.page.getByRole('dialog', { name: 'Reload all workloads that match' });
    await dialog.getByRole('status').getByText('Dry run: 2 workloads match.').waitFor();
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual(
      ['web-1', 'web-2'].map((name) => expect.stringContaining(`Deployment/${space.name}/${name}`) as string),
    );
    await me.accessible();
    expect((await api.call('listChanges', { query: { namespace: space.name } })).items).toEqual([]);
    await dialog.getByLabel('Reason').fill('new CA');
    await me.page.keyboard.press('Enter');
    await dialog.getByText('2 workloads: 2 done.').waitFor();
    expect(await focused(me)).toBe('2 workloads: 2 done.');
    await me.accessible();
    await dialog.getByRole('button', { name: 'Close' }).press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    expect(await focused(me)).toBe('Reload all');
    const { items } = await api.call('listChanges', { query: { namespace: space.name } });
    expect(new Set(items.map(({ workload, request }) => `${workload?.name} ${request?.reason}`))).toEqual(
      new Set(['web-1 new CA', 'web-2 new CA']),
    );
    me.behaved();
  });

  it('are shown on a phone at night, with those that are refused, and none is chosen without a filter', async () => {
    const me = await reader();
    await me.page.route('**/api/v1/status', async (route) => {
      const status: Status = await api.call('getStatus', {});
      await route.fulfill({ json: { ...status, caller: { ...status.caller, mayHold: true } } });
    });
    await me.page.route('**/api/v1/bulk/freeze', async (route) => {
      const problem = {
        code: 'Forbidden',
        detail: `expected the right to patch Deployment/${space.name}/web-1`,
      };
      const items = Array.from({ length: 30 }, (_, at) => ({
        target: `Deployment/${space.name}/a-workload-with-a-long-name-that-has-no-room-on-a-phone-${at}`,
        id: null,
        result: at === 7 ? 'refused' : 'planned',
        accepted: null,
        problem: at === 7 ? problem : null,
      }));
      await route.fulfill({ json: { plan: '0'.repeat(32), dryRun: true, items } });
    });
    await small(me);
    await me.visit('workloads', 'Workloads');
    await me.page.getByRole('link', { name: `${space.name}/api` }).waitFor();
    expect(await me.page.getByRole('button', { name: 'Freeze all' }).count()).toBe(0);
    await me.visit(WEBS(), 'Workloads');
    await me.page.getByRole('button', { name: 'Freeze all', exact: true }).click();
    const dialog = me.page.getByRole('dialog');
    await dialog.getByText('Dry run: 30 workloads match, 1 refused.').waitFor();
    await dialog.getByRole('listitem').first().getByText('You need the right to patch').waitFor();
    expect(await dialog.getByRole('listitem').count()).toBe(8);
    await me.accessible();
    expect(await me.tooWideBy()).toBeLessThanOrEqual(0);
    const dialogTooWideBy = "document.querySelector('dialog[open]').scrollWidth - innerWidth";
    expect(await me.page.evaluate<number>(dialogTooWideBy)).toBeLessThanOrEqual(0);
    await dialog.getByRole('button', { name: 'Show 8 more of 30 workloads' }).click();
    expect(await dialog.getByRole('listitem').count()).toBe(16);
    me.behaved();
  });
});

/** As many pages of workloads as one asks for, fifty each. */
async function longList(me: Reader): Promise<string[]> {
  const asked: string[] = [];
  const [one] = (await api.call('listWorkloads', { query: { namespace: space.name } })).items;
  await me.page.route(/\/api\/v1\/workloads(\?|$)/, async (route) => {
    const { searchParams } = new URL(route.request().url());
    const first = Number(searchParams.get('cursor') ?? 0);
    asked.push(`${first}`);
    const items = Array.from({ length: 50 }, (_, at): unknown => ({
      ...(one as WorkloadSummary),
      name: first + at === 120 ? 'web-1' : `other-${first + at}`,
    }));
    await route.fulfill({ json: { items, next: `${first + 50}` } });
  });
  return asked;
}

it('whoever goes back finds as many pages of the list as before, scrolled to where they were', async () => {
  const me = await reader();
  const asked = await longList(me);
  await me.visit('workloads', 'Workloads');
  const more = me.page.getByRole('button', { name: 'Show more workloads' });
  const row = (name: string): Locator => me.page.getByRole('link', { name: `${space.name}/${name}` });
  for (const name of ['other-50', 'other-100']) {
    await more.click();
    await row(name).waitFor();
  }
  await row('web-1').scrollIntoViewIfNeeded();
  const scrolled = (): Promise<number> => me.page.evaluate<number>('Math.round(scrollY)');
  const top = await scrolled();
  expect(top).toBeGreaterThan(1_000);
  // What is kept is written a moment later.
  await eventually(async () => {
    expect(await me.page.evaluate<unknown>('history.state')).toMatchObject({ top });
    return true;
  });
  await row('web-1').click();
  await me.heading('web-1');
  expect(await scrolled()).toBe(0);
  asked.length = 0;
  await me.page.goBack();
  await me.heading('Workloads');
  await eventually(async () => {
    expect(await scrolled()).toBe(top);
    return true;
  });
  expect(await row('web-1').isVisible()).toBe(true);
  expect(new Set(asked)).toEqual(new Set(['0', '50', '100']));
  await me.page.goForward();
  await me.heading('web-1');
  await me.page.getByRole('navigation').getByRole('link', { name: 'Workloads' }).click();
  await me.heading('Workloads');
  await row('other-0').waitFor();
  expect(await row('other-50').count()).toBe(0);
  expect(await scrolled()).toBe(0);
  me.behaved();
});

it('what was typed in a dialog is there again after a new sign-in', async () => {
  const me = await reader();
  const { page } = me;
  await me.visit(`workloads/Deployment/${space.name}/api`, 'api');
  await page.getByRole('button', { name: 'Reload now' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('by hand');
  const problem = { title: 'The bearer token is missing or invalid', status: 401, code: 'Unauthenticated' };
  await page.route('**/api/v1/**', async (route) => {
    if ((await route.request().allHeaders())['authorization'] !== 'Bearer good') {
      await route.fulfill({ status: 401, contentType: 'application/problem+json', json: problem });
      return;
    }
    const headers = { ...(await route.request().allHeaders()), authorization: `Bearer ${TOKENS.operator}` };
    await route.continue({ headers: { ...headers, 'reroll-authorization': headers.authorization } });
  });
  await dialog.getByRole('button', { name: 'Reload now' }).click();
  await me.heading('Sign in');
  await page.getByText('the dialog comes back with what you typed').waitFor();
  expect(await focused(me)).toBe('Sign in');
  await me.accessible();
  await page.getByLabel('Bearer token').fill('good');
  await page.keyboard.press('Enter');
  await dialog.waitFor();
  expect(await dialog.getByLabel('Reason').inputValue()).toBe('by hand');
  await dialog.getByRole('button', { name: 'Reload now' }).click();
  await dialog.waitFor({ state: 'hidden' });
  expect(await focused(me)).toBe('api');
  me.behaved(/status of 401/);
});
