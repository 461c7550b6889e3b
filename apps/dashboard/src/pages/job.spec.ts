import { inBrowser, mount, requests, text } from '../testing/mounted.ts';
import { h } from 'preact';
import { expect, it } from 'vitest';
import { Job } from './job.tsx';

inBrowser();

const JOB = {
  queue: 'reloads',
  subject: null,
  createdAt: '2026-11-21T15:00:00.000Z',
  until: null,
  startedAt: null,
  endedAt: null,
  attempts: { made: 1, most: 5 },
  error: null,
};

it.each([
  ['waiting', true],
  ['delayed', true],
  ['active', false],
  ['failed', false],
])('of a job that is %s, it is said when it is due: %s', async (state, isDue) => {
  await mount(h(Job, { id: '7' }));
  await requests[0]?.answer({ ...JOB, state });
  expect(text().includes('DueNow')).toBe(isDue);
});
