import { find, findAll, inBrowser, mount, requests, text } from './testing/mounted.ts';
import { Fragment, h, type ComponentChild } from 'preact';
import { afterEach, expect, it, vi } from 'vitest';
import { App, Content, Upgraded } from './app.tsx';
import { OpenAction } from './components/action.tsx';
import { parseRoute, route } from './router.ts';
import { calmFor, keepCalm } from './state/calm.ts';
import { pulse } from './state/live.ts';
import { signIn, signOut, token } from './state/session.ts';
import { status } from './state/status.ts';
import { goLongAgo } from './testing/long-ago.ts';

const STATUS = {
  cluster: '',
  caller: {},
  warnings: [],
  leader: 'watcher-0',
  processes: [],
  lagSeconds: 0,
  owed: null,
  limits: { reloadsPerMinute: null },
  redis: { ok: true, milliseconds: 1 },
  apiServer: { ok: true, milliseconds: 1 },
};

// After what was mounted is gone: the last registered comes first.
afterEach(() => {
  signOut();
  status.value = undefined;
  vi.unstubAllGlobals();
});
inBrowser();

it('a reader whose token has expired can go on without one', async () => {
  signIn('expired');
  await mount(h(Content, {}));
  await requests[0]?.answer({ title: 'Unauthorized' }, 401);
  expect(text()).toContain('The token was not accepted');
  await find('button', 'Continue without a token').fire('click');
  expect(token.value).toBe('');
  await requests.at(-1)?.answer({ title: 'Unauthorized' }, 401);
  expect(text()).toContain('This installation requires you to sign in.');
  expect(findAll('button').map(({ textContent }) => textContent)).toEqual(['Sign in']);
});

it.each([
  [503, 'Unavailable. What is shown is from'],
  // That the connection is lost is said once, at the top of each page.
  [0, ''],
])('the tiles of the overview tell that they are old after an answer %i', async (code, expected) => {
  route.value = parseRoute('#/');
  await mount(h(Content, {}));
  const asked = () => requests.findLast(({ path }) => path === '/status');
  await asked()?.answer(STATUS);
  pulse.value += 1;
  await mount(h(Content, {}));
  if (code === 0) await asked()?.fail();
  else await asked()?.answer({ title: 'Unavailable' }, code);
  expect(text()).toContain('Leaderwatcher-0');
  const alerts = findAll('div').filter(({ attributes }) => attributes.get('role') === 'alert');
  expect(
    alerts.map(({ textContent }) => textContent.replace(/from .*/, 'from').replaceAll(/ +/g, ' ')).join(),
  ).toBe(expected);
  pulse.value += 1;
  await mount(h(Content, {}));
  await asked()?.answer(STATUS);
  expect(findAll('div').filter(({ attributes }) => attributes.get('role') === 'alert')).toEqual([]);
});

it('a token that is accepted again needs no new sign-in', async () => {
  route.value = parseRoute('#/nowhere');
  signIn('good');
  await mount(h(Content, {}));
  await requests[0]?.answer({ title: 'Unauthorized' }, 401);
  expect(text()).toContain('The token was not accepted');
  pulse.value += 1;
  await mount(h(Content, {}));
  await requests.at(-1)?.answer({ cluster: '', caller: {}, warnings: [] });
  expect(text()).toContain('There is no page at this address.');
});

const frame = (): ComponentChild => h(Fragment, {}, h(Content, {}), h(OpenAction, {}));
const reason = () => find('input', '', find('label', 'Reason').attributes.get('for'));
const statusOf = (name: string): unknown => ({ ...STATUS, caller: { name, mayHold: true } });

/** Somebody freezes a namespace: resolves when that is sent. */
async function freeze(): Promise<void> {
  route.value = parseRoute('#/workloads?namespace=shop');
  signIn('first');
  await mount(frame());
  await requests[0]?.answer(statusOf('ann'));
  await find('button', 'Freeze the namespace').fire('click');
  await reason().fire('input', 'year-end');
  await findAll('form').at(-1)?.fire('submit');
}

it('a dialog whose request is answered after the session has ended does not come back', async () => {
  await freeze();
  const sent = requests.at(-1);
  pulse.value += 1;
  await mount(frame());
  await requests.findLast(({ path }) => path === '/status')?.answer({ title: 'Unauthorized' }, 401);
  expect(text()).toContain('the dialog comes back with what you typed');
  await sent?.answer({});
  expect(text()).not.toContain('the dialog comes back with what you typed');
  signIn('second');
  await mount(frame());
  await requests.findLast(({ path }) => path === '/status')?.answer(statusOf('ann'));
  expect(find('h1').textContent).toBe('Workloads');
  expect(findAll('dialog')).toEqual([]);
});

it('what was typed in a dialog is kept when the session ends, until somebody has signed in again', async () => {
  await freeze();
  await requests.at(-1)?.answer({ title: 'Unauthorized' }, 401);
  expect(findAll('dialog')).toEqual([]);
  expect(find('h1').textContent).toBe('Sign in');
  expect(text()).toContain('the dialog comes back with what you typed');
  signIn('wrong');
  await mount(frame());
  await requests.at(-1)?.answer({ title: 'Unauthorized' }, 401);
  expect(findAll('dialog')).toEqual([]);
  signIn('second');
  await mount(frame());
  expect(findAll('dialog')).toEqual([]);
  await requests.at(-1)?.answer(statusOf('ann'));
  expect(find('dialog').attributes.has('open')).toBe(true);
  expect(reason().value).toBe('year-end');
  await findAll('form').at(-1)?.fire('submit');
  expect(requests.at(-1)).toMatchObject({ path: '/namespaces/shop/freeze', body: { reason: 'year-end' } });
});

it('what was typed in a dialog is not for another account that signs in', async () => {
  await freeze();
  await requests.at(-1)?.answer({ title: 'Unauthorized' }, 401);
  signIn('second');
  await mount(frame());
  await requests.at(-1)?.answer(statusOf('bob'));
  expect(find('h1').textContent).toBe('Workloads');
  expect(findAll('dialog')).toEqual([]);
  signIn('first');
  await mount(frame());
  await requests.findLast(({ path }) => path === '/status')?.answer(statusOf('ann'));
  expect(findAll('dialog')).toEqual([]);
});

it('the pause of a caller who has asked too often is not that of the next one', async () => {
  goLongAgo();
  signIn('first');
  keepCalm(60);
  await mount(h(Content, {}));
  expect(requests).toEqual([]);
  signIn('first');
  await mount(h(Content, {}));
  expect([requests, calmFor() > 0]).toEqual([[], true]);
  signIn('second');
  await mount(h(Content, {}));
  expect(requests).toHaveLength(1);
});

it('a page that was opened before an upgrade says so', async () => {
  const ofVersion = async (version: string): Promise<void> => {
    status.value = { version } as unknown as typeof status.value;
    await mount(h(Upgraded, {}));
  };
  await ofVersion('1.4.0');
  await ofVersion('1.4.0');
  expect(text()).toBe('');
  await ofVersion('1.5.0');
  expect(text()).toContain('Reroll 1.5.0 is installed, and this page is from 1.4.0.');
});

it.each([
  ['at first', []],
  ['later', ['active']],
])(
  'a page with a state that only a newer API knows, %s, says that it could not be shown, until the next page',
  async (_when, before) => {
    vi.stubGlobal('location', { reload: vi.fn() });
    vi.spyOn(console, 'error').mockReturnValue();
    route.value = parseRoute('#/jobs/reloads:1');
    const job = { queue: 'reloads', subject: null, attempts: { made: 1, most: 5 }, error: null };
    await mount(h(Content, {}));
    await requests[0]?.answer(STATUS);
    for (const state of [...before, 'parked']) {
      await requests.findLast(({ path }) => path.startsWith('/jobs'))?.answer({ ...job, state });
      pulse.value += 1;
      await mount(h(Content, {}));
    }
    expect(find('h1').textContent).toBe('This page could not be shown');
    expect(text()).not.toContain('Attempts');
    expect(console.error).toHaveBeenCalledExactlyOnceWith(expect.any(TypeError));
    await find('button', 'Reload the page').fire('click');
    expect(location.reload).toHaveBeenCalledOnce();
    route.value = parseRoute('#/nowhere');
    await mount(h(Content, {}));
    expect(text()).toBe('Page not foundThere is no page at this address. Go to the overview');
  },
);

it('Escape closes the menu, which names the account, and gives the focus back to its button', async () => {
  const listeners = new Set<(event: unknown) => void>();
  vi.stubGlobal('addEventListener', (_: string, listener: () => void) => listeners.add(listener));
  vi.stubGlobal('removeEventListener', (_: string, listener: () => void) => listeners.delete(listener));
  vi.stubGlobal('HTMLElement', class {});
  const openDialog = () => findAll('dialog').find(({ attributes }) => attributes.has('open')) ?? null;
  vi.spyOn(document, 'querySelector').mockImplementation(openDialog as () => null);
  route.value = parseRoute('#/nowhere');
  await mount(h(App, {}));
  await requests[0]?.answer({ ...STATUS, caller: { name: 'system:serviceaccount:shop:ann' } });
  const isOpen = () => find('nav').attributes.get('class') === 'open';
  const press = async (key: string, defaultPrevented = false): Promise<void> => {
    for (const listener of listeners) listener({ key, defaultPrevented, preventDefault: () => undefined });
    await mount(h(App, {}));
  };
  await press('Escape');
  const button = find('button', 'Menu');
  expect(button.attributes.has('focused')).toBe(false);
  await button.fire('click');
  await press('Tab');
  await press('Escape', true);
  find('dialog').showModal();
  await press('Escape');
  find('dialog').close();
  expect([isOpen(), button.attributes.has('focused')]).toEqual([true, false]);
  expect(find('nav').textContent).toContain('Account: shop:ann');
  await press('Escape');
  expect([isOpen(), button.attributes.has('focused')]).toEqual([false, true]);
});
