import { inBrowser, mount, requests, text } from '../testing/mounted.ts';
import { h, type JSX } from 'preact';
import { afterEach, expect, it } from 'vitest';
import { parseRoute, route } from '../router.ts';
import { Audit } from './audit.tsx';
import { Changes } from './changes.tsx';
import { Jobs } from './jobs.tsx';
import { Activity } from './overview/overview-activity.tsx';
import { Sources } from './sources.tsx';
import { Workloads } from './workloads.tsx';

afterEach(() => void (route.value = parseRoute('')));
inBrowser();

/** Of each request, the namespace that it is limited to. */
async function namespacesOf(Page: () => JSX.Element, page: string): Promise<(string | null)[]> {
  route.value = parseRoute(`#/${page}?namespace=shop`);
  await mount(h(Page, {}));
  return requests.map(({ path }) => new URL(path, 'http://reroll').searchParams.get('namespace'));
}

it.each([
  ['', Activity, 2],
  ['changes', Changes, 2],
  ['workloads', Workloads, 1],
  ['sources', Sources, 1],
])('the lists of the page "%s" are those of the chosen namespace', async (page, Page, count) => {
  expect(await namespacesOf(Page, page)).toEqual(Array.from({ length: count }, () => 'shop'));
});

it.each([
  ['jobs', Jobs],
  ['audit', Audit],
])('the page %s says that it is not limited to the chosen namespace', async (page, Page) => {
  expect(new Set(await namespacesOf(Page, page))).toEqual(new Set([null]));
  expect(text()).toContain('Not limited to the chosen namespace.');
});
