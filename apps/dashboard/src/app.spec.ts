import { find, findAll, inBrowser, mount, requests, text } from './testing/mounted.ts';
import { h } from 'preact';
import { afterEach, expect, it } from 'vitest';
import { Content } from './app.tsx';
import { parseRoute, route } from './router.ts';
import { pulse } from './state/live.ts';
import { signIn, signOut, token } from './state/session.ts';
import { status } from './state/status.ts';

// After what was mounted is gone: the last registered comes first.
afterEach(() => {
  signOut();
  status.value = undefined;
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
