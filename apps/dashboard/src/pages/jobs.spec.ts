import { inBrowser, mount, requests, text } from '../testing/mounted.ts';
import { h } from 'preact';
import { expect, it } from 'vitest';
import { parseRoute, route } from '../router.ts';
import { Jobs } from './jobs.tsx';

inBrowser();

it.each([
  ['#/jobs', 'No jobs: all are done.'],
  ['#/jobs?state=failed', 'No job matches these filters.'],
])('an empty list at %s says: %s', async (at, expected) => {
  route.value = parseRoute(at);
  await mount(h(Jobs, {}));
  await requests.find(({ path }) => path.startsWith('/jobs'))?.answer({ items: [], next: null });
  expect(text()).toContain(expected);
});
