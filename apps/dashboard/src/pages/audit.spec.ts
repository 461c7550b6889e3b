import { inBrowser, mount, requests } from '../testing/mounted.ts';
import { h } from 'preact';
import { expect, it, vi } from 'vitest';
import { parseRoute, route } from '../router.ts';
import { Audit } from './audit.tsx';

inBrowser();

it('keeps the list of the last hour while its page is drawn again', async () => {
  route.value = parseRoute('#/audit?since=60');
  await mount(h(Audit, {}));
  await requests[0]?.answer({ items: [], next: null });
  await vi.advanceTimersByTimeAsync(120_000);
  await mount(h(Audit, {}));
  expect(requests.map(({ path }) => path.replace(/=.*/, ''))).toEqual(['/audit?since']);
});
