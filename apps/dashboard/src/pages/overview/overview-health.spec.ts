import { find, findAll, inBrowser, mount } from '../../testing/mounted.ts';
import { h } from 'preact';
import { expect, it } from 'vitest';
import type { Status } from '@reroll/shared/api/status';
import { status } from '../../state/status.ts';
import { Processes, Tiles } from './overview-health.tsx';

inBrowser();

const STATUS = {
  leader: 'watcher-0',
  processes: [],
  lagSeconds: 0,
  limits: { reloadsPerMinute: null },
  redis: { ok: true, milliseconds: 1 },
  apiServer: { ok: true, milliseconds: 1 },
} as unknown as Status;

it.each([
  [null, 'Pendingunknown'],
  [{ workloads: 0, oldest: null }, 'Pending0no pending reload'],
])('what is pending, of %o, is told by %s', async (owed, expected) => {
  status.value = { ...STATUS, owed };
  await mount(h(Tiles, {}));
  expect(find('div', 'Pending').textContent).toBe(expected);
  status.value = undefined;
});

it.each([
  [null, 'limits set by flags'],
  [0, 'no limit of reloads a minute'],
  [60, '60 reloads a minute'],
])('a limit of %o reloads a minute is told by: %s', async (reloadsPerMinute, expected) => {
  const limits = { concurrency: null, reloadsPerMinute };
  status.value = { ...STATUS, owed: null, limits };
  await mount(h(Tiles, {}));
  expect(find('div', 'Workers').textContent).toBe(`Workers0${expected}`);
  status.value = undefined;
});

it('a process has its role below its name, so that the name of a pod has room', async () => {
  const process = { app: 'watcher', role: 'leader', synced: false, startedAt: '2026-11-29T12:00:00.000Z' };
  const processes = [{ ...process, name: 'reroll-watcher-6d5f7c9b8d-x2x9z', version: '1.4.0' }];
  status.value = { ...STATUS, processes } as unknown as Status;
  await mount(h(Processes, {}));
  const [, , , row] = findAll('th').map(({ textContent }) => textContent);
  expect(row).toBe('reroll-watcher-6d5f7c9b8d-x2x9z leader, not synced');
  status.value = undefined;
});
