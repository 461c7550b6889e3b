import type { Browser, Locator } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { AdminApi, OPERATOR, READER, TOKENS, tokensFile } from '../support/admin/admin-api.ts';
import { openBrowser, Reader } from '../support/admin/browser.ts';
import {
  annotated,
  auto,
  configMap,
  deployment,
  replicas,
  secret,
  usingEnvFrom,
  usingVolume,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { behindPath } from '../support/admin/path-prefix.ts';
import { startReroll } from '../support/reroll.ts';
import { inStep } from '../support/objects/rollouts.ts';

const MARKUP = '<img src=x onerror=alert(1)><b>bold</b>';
const ELSEWHERE = { ...READER, name: 'elsewhere', token: 'token-of-elsewhere', namespaces: ['elsewhere'] };

let space: Space;
let api: AdminApi;
let browser: Browser;
let url: string;
/** Everything is in its namespace. */
let web: string;
let db: string;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  await space.apply(
    secret('db', { password: 'one' }),
    configMap('config', { mode: 'one' }),
    deployment('web', auto(), usingEnvFrom('Secret/db'), usingVolume('config'), replicas(2)),
    deployment('api', usingEnvFrom('Secret/db')),
    deployment(
      'marked',
      auto(),
      annotated({ 'secret.reloader.stakater.com/reload': MARKUP }),
      usingEnvFrom('config'),
    ),
  );
  const reroll = await startReroll({
    cluster,
    namespaces: [space],
    admins: 1,
    adminFlags: ['--auth=static', `--static-tokens-file=${tokensFile([OPERATOR, READER, ELSEWHERE])}`],
  });
  await inStep(space, 'Deployment/web', ['Secret/db', 'ConfigMap/config']);
  await inStep(space, 'Deployment/marked', ['ConfigMap/config']);
  [web, db] = [`Deployment/${space.name}/web`, `Secret/${space.name}/db`];
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  api = new AdminApi(admin);
  url = `${await admin.apiUrl()}/`;
  browser = await openBrowser();
});

/** Somebody who is signed in. */
async function reader(token: string = TOKENS.operator, more: object = {}): Promise<Reader> {
  return await Reader.open(browser, { url, token, ...more });
}

/** Every page but that of a change, and the heading that it has. */
function pages(): [route: string, heading: string | RegExp][] {
  return [
    ['', 'Overview'],
    ['changes', 'Changes'],
    ['workloads', 'Workloads'],
    [`workloads/${web}`, 'web'],
    ['sources', 'Sources'],
    [`sources/${db}`, 'db'],
    [`explain?workload=${web}&source=${db}`, 'Explain'],
    [`preview?of=source&source=${db}`, 'Preview'],
    ['jobs', 'Jobs'],
    ['audit', 'Audit'],
    ['search?q=web', 'Search for web'],
    ['nowhere', 'Page not found'],
  ];
}

/** Fills in the reason that a button asks for, and sends it. */
async function because(button: Locator, reason: string): Promise<void> {
  await button.click();
  const dialog = button.page().getByRole('dialog');
  await dialog.getByLabel('Reason').fill(reason);
  await dialog.getByRole('button').last().click();
  await dialog.waitFor({ state: 'hidden' });
}

describe('signing in', () => {
  it('is asked for; a token that is no good is told so; a good one leads on and stays in the tab alone', async () => {
    const me = await Reader.open(browser, { url });
    const { page } = me;
    await page.goto(url);
    await me.heading('Sign in');
    await me.accessible();
    await page.getByLabel('Bearer token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The token was not accepted').waitFor();
    await page.getByLabel('Bearer token').fill(TOKENS.operator);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await me.heading('Overview');
    expect(page.url()).not.toContain(TOKENS.operator);
    expect(await page.context().cookies()).toEqual([]);
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(TOKENS.operator);
    expect(await page.evaluate('sessionStorage.getItem("reroll-token")')).toBe(TOKENS.operator);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await me.heading('Sign in');
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(TOKENS.operator);
    me.behaved(/status of 401/);
  });
});

describe('getting about', () => {
  it('what is searched for and listed leads to its page, and from there to what it has to do with', async () => {
    const me = await reader();
    await me.visit('', 'Overview');
    const field = me.page.getByLabel('Search workloads and sources');
    await field.fill('we');
    await field.press('Enter');
    await me.page.getByRole('link', { name: `${space.name}/web` }).click();
    await me.heading('web');
    const source = me.page.getByRole('table').getByRole('link', { name: `${space.name}/db` });
    await source.first().click();
    await me.heading('db');
    await me.page.getByText(/A change of Secret db in .* reloads 1 of 2 workloads/).waitFor();
    await me.page.getByRole('link', { name: `Explain Deployment web in ${space.name}` }).click();
    await me.heading('Explain');
    await me.page.getByText('Reloads', { exact: true }).waitFor();
    const decides = me.page.locator('.rules [aria-current=step]');
    await decides.getByText('AutoReload').first().waitFor();
    expect(await decides.count()).toBe(1);
    me.behaved();
  });

  it('what is searched for is suggested as one types, and chosen by keys', async () => {
    const me = await reader();
    await me.visit('', 'Overview');
    const field = me.page.getByRole('combobox', { name: 'Search workloads and sources' });
    await field.pressSequentially('b');
    const suggested = (name: string): Locator => me.page.getByRole('option', { name, exact: true });
    await suggested(`Deployment ${space.name}/web`).waitFor();
    await me.accessible();
    await field.press('Escape');
    await suggested(`Deployment ${space.name}/web`).waitFor({ state: 'hidden' });
    expect(await field.inputValue()).toBe('b');
    await field.fill('db');
    await suggested(`Deployment ${space.name}/web`).waitFor({ state: 'hidden' });
    await suggested(`Secret ${space.name}/db`).waitFor();
    await field.press('ArrowDown');
    expect(await suggested(`Secret ${space.name}/db`).getAttribute('aria-selected')).toBe('true');
    await me.accessible();
    await field.press('Enter');
    await me.heading('db');
    expect(await field.inputValue()).toBe('');
    me.behaved();
  });

  it('a namespace is chosen in the header, and holds on every page until all are', async () => {
    const me = await reader();
    await me.visit('', 'Overview');
    const field = me.page.getByRole('combobox', { name: 'Namespace' });
    await field.fill(space.name.slice(0, -1));
    const option = me.page.getByRole('option', { name: space.name, exact: true });
    await option.waitFor();
    await me.accessible();
    await field.press('Enter');
    await me.page.waitForURL((now) => now.hash === `#/?namespace=${space.name}`);
    await me.page.getByText(`, namespace ${space.name}: `).waitFor();
    expect(await field.inputValue()).toBe(space.name);
    await me.loaded();
    await me.accessible();
    const asked: string[] = [];
    me.page.on('request', (request) => asked.push(new URL(request.url()).search));
    for (const name of ['Changes', 'Workloads', 'Sources']) {
      asked.length = 0;
      await me.page.getByRole('navigation').getByRole('link', { name }).click();
      await me.heading(name);
      await me.loaded();
      expect(asked.some((query) => query.includes(`namespace=${space.name}`))).toBe(true);
    }
    await me.page.getByRole('link', { name: `${space.name}/db` }).click();
    await me.heading('db');
    await me.visit('workloads?namespace=nowhere&kind=Deployment', 'Workloads');
    await me.page.getByText('No workload that you may see').waitFor();
    await field.click();
    await me.page.getByRole('option', { name: 'All namespaces' }).click();
    await me.page.getByRole('link', { name: `${space.name}/web` }).waitFor();
    expect(me.page.url()).toMatch(/#\/workloads\?kind=Deployment$/);
    await me.page.setViewportSize({ width: 360, height: 740 });
    await field.click();
    await option.waitFor();
    expect(await me.tooWideBy()).toBeLessThanOrEqual(0);
    await me.accessible();
    me.behaved();
  });

  it('every page is reached by keys alone', async () => {
    const me = await reader();
    const { keyboard } = me.page;
    await me.visit('', 'Overview');
    await keyboard.press('Tab');
    expect(await focused(me)).toBe('Skip to content');
    await keyboard.press('Enter');
    expect(await me.page.evaluate('document.activeElement.id')).toBe('main');
    for (const name of ['Changes', 'Workloads', 'Sources', 'Explain', 'Preview', 'Jobs', 'Audit']) {
      await keyboard.press('g');
      await keyboard.press(name.slice(0, 1).toLowerCase());
      await me.heading(name);
      expect(await focused(me)).toBe(name);
    }
    await keyboard.press('/');
    await keyboard.type(web);
    await keyboard.press('Enter');
    await me.heading('web');
    await tabTo(me, 'Reload now');
    await keyboard.press('Enter');
    await me.page.getByRole('dialog').getByLabel('Reason').waitFor();
    await keyboard.press('Escape');
    await me.page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await focused(me)).toBe('Reload now');
    await keyboard.press('?');
    await me.page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await keyboard.press('Escape');
    await me.page.setViewportSize({ width: 360, height: 740 });
    await me.page.getByRole('button', { name: 'Menu' }).press('Enter');
    await me.page.getByRole('navigation').getByText('Account: ').waitFor();
    await me.accessible();
    await keyboard.press('Escape');
    await me.page.getByRole('navigation').waitFor({ state: 'hidden' });
    expect(await focused(me)).toBe('Menu');
    me.behaved();
  });
});

async function focused(me: Reader): Promise<string> {
  return await me.page.evaluate<string>('document.activeElement.textContent.trim()');
}

async function tabTo(me: Reader, text: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    if ((await focused(me)) === text) return;
    await me.page.keyboard.press('Tab');
  }
  throw new Error(`expected ${text} to be reached by Tab`);
}

describe('a change', () => {
  it('appears as it happens, is read out, and goes on to "rolled out"', async () => {
    const me = await reader();
    await me.visit('', 'Overview');
    await me.page.getByRole('banner').getByPlaceholder('All namespaces').waitFor();
    await me.page.getByText('Connected', { exact: true }).waitFor();
    await space.setData('Secret/db', { password: 'two' });
    const live = me.page.getByRole('region', { name: 'Live' });
    await live.getByText(`Secret db in ${space.name} changed`).waitFor();
    await me.page.locator('[aria-live=polite]', { hasText: space.name }).waitFor({ state: 'attached' });
    await live.getByText(`Deployment web in ${space.name} rolled out`).waitFor();
    // `marked` was there before Reroll, and may have been recorded as stale.
    await me.page
      .getByText(/: (everything is reloaded|1 workload may .*, nothing else needs attention)\.$/)
      .waitFor();
    const row = me.page.getByRole('region', { name: 'Latest changes' }).getByRole('row', { name: '/db' });
    await row.getByText('1 rolled out').first().waitFor();
    await row.getByRole('link').first().click();
    await me.heading('Secret db changed');
    await me.page.getByText(/^1 workload to reload: .* AutoReload$/).waitFor();
    const steps = me.page.getByRole('list', { name: `Timeline of Deployment web in ${space.name}` });
    for (const step of ['Seen', 'Decided', 'Patched', 'Pods replaced']) await steps.getByText(step).waitFor();
    await steps
      .getByText(/^after [\d.]+ m?s$/)
      .last()
      .waitFor();
    const time = me.page.locator('time').first();
    expect(await time.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d [\d:]{8} UTC$/);
    expect(await time.textContent()).toMatch(/^[\d:]{8} (just now|\d+ (s|min) ago)$/);
    me.behaved();
  });

  it('that a person asks for has their reason, in the history and in the audit log', async () => {
    const me = await reader();
    await me.visit(`workloads/${web}`, 'web');
    await because(me.page.getByRole('button', { name: 'Reload now' }), `by hand ${MARKUP}`);
    await me.page.getByRole('link', { name: 'Requested: show progress' }).click();
    await me.heading('Reload requested by operator');
    await me.page.getByText(`by hand ${MARKUP}`).waitFor();
    const steps = me.page.getByRole('list', { name: `Timeline of Deployment web in ${space.name}` });
    await steps.getByText('Requested').waitFor();
    await me.visit('audit', 'Audit');
    const entry = me.page.getByRole('row', { name: 'reloadWorkload' }).first();
    await entry.getByText(`by hand ${MARKUP}`).waitFor();
    await entry.getByText('done').waitFor();
    me.behaved();
  });
});

describe('whoever may not', () => {
  it('is offered no button, and refused if they try without one', async () => {
    const me = await reader(TOKENS.reader);
    await me.visit(`workloads/${web}`, 'web');
    await me.page.getByRole('heading', { name: 'Sources' }).waitFor();
    expect(await me.page.getByRole('button', { name: /Reload|Retry/ }).count()).toBe(0);
    await me.visit('jobs', 'Jobs');
    await me.page
      .getByRole('row', { name: /reloads/ })
      .first()
      .waitFor();
    expect(await me.page.getByRole('button', { name: /Pause|Resume|Set limits|Retry/ }).count()).toBe(0);
    const forced = await me.page.evaluate<number>(`fetch('api/v1/workloads/${web}/reload', { method: 'POST',
      headers: { authorization: 'Bearer ${TOKENS.reader}', 'content-type': 'application/json' },
      body: '{"reason":"by force"}' }).then(({ status }) => status)`);
    expect(forced).toBe(403);
    me.behaved(/status of 403/);
  });

  it('does not learn that there is a workload in a namespace of others', async () => {
    const me = await reader(ELSEWHERE.token);
    await me.visit('workloads', 'Workloads');
    await me.page.getByText('No workload that you may see').waitFor();
    await me.visit(`workloads/${web}`, 'web');
    await me.page.getByText('Not found,').waitFor();
    me.behaved(/status of 404/);
  });
});

describe('steering', () => {
  it('a queue is paused and resumed, and limits are set, each with a reason', async () => {
    const me = await reader();
    await me.visit('jobs', 'Jobs');
    const queue = me.page.getByRole('region', { name: 'Queues' }).getByRole('row', { name: /notifications/ });
    await because(queue.getByRole('button', { name: 'Pause' }), 'for a while');
    await queue.getByText('paused').waitFor();
    await because(queue.getByRole('button', { name: 'Resume' }), 'enough');
    await queue.getByText('paused').waitFor({ state: 'detached' });
    const limits = me.page.getByRole('region', { name: 'Limits' });
    await limits.getByRole('button', { name: 'Set limits' }).click();
    const dialog = me.page.getByRole('dialog');
    await dialog.getByLabel('Reloads per minute').fill('1234');
    await dialog.getByLabel('Reason').fill('a large cluster');
    await dialog.getByRole('button', { name: 'Set limits' }).click();
    await limits.getByText('1234').waitFor();
    await me.visit('audit', 'Audit');
    for (const action of ['pauseQueue', 'resumeQueue', 'setLimits']) {
      await me.page.getByRole('row', { name: action }).first().waitFor();
    }
    me.behaved();
  });
});

describe('what needs attention', () => {
  it('is counted in one sentence and listed: what, since when, why in one line, and what can be done', async () => {
    const me = await reader();
    const of = { params: { kind: 'Deployment', namespace: space.name, name: 'web' } } as const;
    const known = await api.call('getWorkload', of);
    const pods = [{ name: 'web-1', container: 'app', reason: 'ImagePullBackOff', message: MARKUP }];
    const at = '2026-11-21T15:00:00.000Z';
    const rolloutInDetail = { state: 'stuck', code: 'ProgressDeadlineExceeded', at, conditions: [], pods };
    await me.page.route(/\/api\/v1\/workloads\?rollout=stuck/, async (route) => {
      const { items } = await api.call('listWorkloads', { query: { name: 'web' } });
      await route.fulfill({
        json: { items: items.map((each) => ({ ...each, rollout: 'stuck' })), next: null },
      });
    });
    await me.page.route(`**/api/v1/workloads/${web}`, async (route) => {
      await route.fulfill({ json: { ...known, rollout: 'stuck', rolloutInDetail } });
    });
    await me.visit('', 'Overview');
    const item = me.page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem');
    await item.getByText('Stuck').waitFor();
    await item.getByText(`Pod web-1: ImagePullBackOff, ${MARKUP}`).waitFor();
    expect(await item.locator('time').getAttribute('datetime')).toBe(at);
    expect(await me.page.getByText('everything is reloaded').count()).toBe(0);
    await me.accessible();
    await me.page.getByRole('link', { name: '1 needs attention' }).click();
    const stuck = me.page.getByRole('region', { name: 'Needs attention: stuck' });
    await stuck.getByRole('link', { name: `${space.name}/web` }).waitFor();
    await me.accessible();
    await stuck.getByRole('link', { name: 'Everything that needs attention' }).click();
    await item.getByText('Stuck').waitFor();
    await me.visit('workloads?rollout=stuck', 'Workloads');
    await me.page
      .getByRole('row', { name: `${space.name}/web` })
      .getByText('Stuck')
      .waitFor();
    expect(await me.page.getByText('Up to date').count()).toBe(0);
    me.behaved();
  });

  it('is not claimed to be nothing if a list is not known, and the others are told', async () => {
    const me = await reader();
    await me.page.route('**/api/v1/jobs?*', async (route) => {
      const problem = { title: 'Forbidden', status: 403, code: 'Forbidden' };
      await route.fulfill({ status: 403, contentType: 'application/problem+json', json: problem });
    });
    await me.visit('', 'Overview');
    await me.page.getByText('no right to read failed jobs').waitFor();
    await me.page.getByText('but not everything could be checked').waitFor();
    expect(await me.page.getByText('everything is reloaded').count()).toBe(0);
    me.behaved(/status of 403/);
  });
});

describe('whether anybody is still on the old value', () => {
  const ANSWERS = '**/api/v1/sources/*/*/*/consumers';

  it('is asked for by a button, and answered in a sentence and a table', async () => {
    const me = await reader();
    let asked = 0;
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await me.page.route(ANSWERS, async (route) => {
      asked += 1;
      await held;
      const old = { pod: MARKUP, container: 'app', use: 'env', state: 'stale', why: 'it is old' };
      const at = '2026-11-21T15:00:00.000Z';
      const items = asked === 1 ? [{ ...old, since: at }] : [];
      const counts = { stale: items.length, unknown: 0, current: 0 };
      const source = { kind: 'Secret', namespace: space.name, name: 'db' };
      const conclusion = asked === 1 ? '1 container of 1 pod still does.' : 'Nobody: no container.';
      await route.fulfill({ json: { source, conclusion, complete: true, counts, items } });
    });
    await me.visit(`sources/${db}`, 'db');
    const section = me.page.getByRole('region', { name: 'Containers with older data' });
    await section.getByText('Asks the API server for the pods').waitFor();
    expect(asked).toBe(0);
    await section.getByRole('button', { name: 'Check' }).click();
    await section.getByText('Loading the pods…').waitFor();
    release();
    await section.getByText('1 container of 1 pod still does.').waitFor();
    const row = section.getByRole('row', { name: MARKUP });
    for (const text of ['app', 'Variable', 'Stale', 'it is old']) await row.getByText(text).waitFor();
    await me.accessible();
    await section.getByRole('button', { name: 'Check again' }).click();
    await section.getByText('Nobody: no container.').waitFor();
    await section.getByText('No running container that uses it was found.').waitFor();
    expect(asked).toBe(2);
    me.behaved();
  });

  it('is not answered to a static token, and it is said which command tells', async () => {
    const me = await reader();
    await me.visit(`sources/${db}`, 'db');
    const section = me.page.getByRole('region', { name: 'Containers with older data' });
    await section.getByRole('button', { name: 'Check' }).click();
    await section.getByText(`kubectl reroll stale --source secret/db -n ${space.name}`).waitFor();
    me.behaved(/status of 403/);
  });
});

it('what would happen is asked for a workload with other annotations; nothing is sent', async () => {
  const me = await reader();
  await me.visit('preview', 'Preview');
  await me.page.getByLabel('a workload had other annotations').check();
  await me.page.getByLabel('Workload', { exact: true }).fill(`Deployment/${space.name}/api`);
  await me.page.getByRole('option', { name: `Deployment ${space.name}/api` }).waitFor();
  await me.page.getByLabel('With these annotations').fill('reloader.stakater.com/auto: "true"');
  await me.page.getByRole('button', { name: 'Preview' }).click();
  const result = me.page.getByRole('region', { name: 'What would happen' });
  await result.getByRole('row', { name: /api/ }).getByText('Reload', { exact: true }).waitFor();
  await me.page.getByRole('region', { name: 'Differences today' }).getByText('No reload').waitFor();
  const { metadata } = await space.get('Deployment/api');
  expect(metadata.annotations ?? {}).not.toHaveProperty(['reloader.stakater.com/auto']);
  me.behaved();
});

describe('what comes from the cluster', () => {
  it('is text, whatever it looks like', async () => {
    const me = await reader();
    await me.visit(`workloads/Deployment/${space.name}/marked`, 'marked');
    await me.page.getByText(MARKUP).waitFor();
    expect(await me.page.locator('img, #app b').count()).toBe(0);
    await me.visit(`search?q=${encodeURIComponent(MARKUP)}`, `Search for ${MARKUP}`);
    expect(await me.page.locator('img, #app b').count()).toBe(0);
    me.behaved();
  });
});

describe('when something is not as it should be, it is said', () => {
  it('an answer is awaited, or it is an error: then it can be asked for again', async () => {
    const me = await reader();
    const problem = { title: 'Redis or the API server cannot be reached', status: 503, code: 'Unavailable' };
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await me.page.route('**/api/v1/sources?*', async (route) => {
      await held;
      await route.fulfill({ status: 503, contentType: 'application/problem+json', json: problem });
    });
    await me.page.goto(`${url}#/sources?name=db`);
    await me.page.getByText('Loading sources…').waitFor();
    release();
    await me.page.getByText('Redis or the API server cannot be reached.').waitFor();
    await me.page.unroute('**/api/v1/sources?*');
    await me.page.getByRole('button', { name: 'Try again' }).click();
    await me.page.getByRole('link', { name: `${space.name}/db` }).waitFor();
    me.behaved(/status of 503/);
  });

  it('the connection is lost: what was known stays, and the news come when it is back', async () => {
    const me = await reader();
    await me.visit('workloads', 'Workloads');
    const row = me.page.getByRole('link', { name: `${space.name}/web` });
    await row.waitFor();
    await me.page.context().setOffline(true);
    await me.page.getByText('Not connected.').waitFor();
    expect(await row.count()).toBe(1);
    await me.page.context().setOffline(false);
    await me.page.getByText('Not connected.').waitFor({ state: 'detached' });
    me.behaved(/ERR_INTERNET_DISCONNECTED/);
  });
});

it('each page is a deep link below another path by a proxy that takes Authorization away, accessible in every light, and fits', async () => {
  const { items } = await api.call('listChanges', { query: { source: db, limit: 1 } });
  const change = [`changes/${items[0]?.id ?? expect.fail()}`, 'Secret db changed'] as const;
  const below = await behindPath('/some/where/', url.slice(0, -1));
  const me = await Reader.open(browser, { url: below, token: TOKENS.operator });
  const wide = { width: 1280, height: 720 };
  for (const [route, heading] of [...pages(), change]) {
    await me.page.goto('about:blank');
    await me.page.setViewportSize(wide);
    await me.page.emulateMedia({ colorScheme: 'light' });
    await me.visit(route, heading);
    await me.loaded();
    expect(await me.tooWideBy(), route).toBeLessThanOrEqual(0);
    await me.accessible(['color-contrast']);
    await me.page.setViewportSize({ width: 360, height: 740 });
    await me.page.emulateMedia({ colorScheme: 'dark' });
    expect(await me.tooWideBy(), route).toBeLessThanOrEqual(0);
    await me.accessible();
  }
  await me.visit('changes?state=failed', 'Changes');
  expect(await me.page.getByLabel('State', { exact: true }).inputValue()).toBe('failed');
  me.behaved();
});

it('the colors follow the system, unless the reader chooses, and the choice stays', async () => {
  const me = await reader(TOKENS.operator, { colorScheme: 'dark' });
  await me.visit('', 'Overview');
  const ground = async (): Promise<string> =>
    await me.page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const dark = await ground();
  await me.page.getByLabel('Theme').selectOption('light');
  const light = await ground();
  expect(light).not.toBe(dark);
  await me.page.reload();
  await me.heading('Overview');
  expect(await ground()).toBe(light);
  me.behaved();
});

it('files that carry a hash are kept for ever, the page is asked for each time', async () => {
  const page = await fetch(url);
  expect(page.headers.get('cache-control')).toBe('no-cache');
  const [, script = ''] = /src="\.\/(app-[^"]+)"/.exec(await page.text()) ?? [];
  const answer = await fetch(url + script);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toContain('immutable');
});
