import { findAll, inBrowser, mount } from '../../testing/mounted.ts';
import { h } from 'preact';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import { expect, it } from 'vitest';
import { ChangeTable } from './change-table.tsx';

const CHANGE: ChangeSummary = {
  id: '1-0',
  source: null,
  workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
  cause: 'manual',
  seenAt: '2026-01-01T00:00:00.000Z',
  takenUpAt: '2026-01-01T00:00:00.000Z',
  from: null,
  to: null,
  request: { actor: 'ann', reason: 'a test' },
  states: {},
  halted: 0,
};
const { workload: _, ...OF_OLDER_ADMIN } = CHANGE;

inBrowser();

it.each([
  ['what changed', { ...CHANGE, source: { kind: 'Secret', namespace: 'shop', name: 'db' } }, 'Secretshop/db'],
  ['what was reloaded by hand', CHANGE, 'Deploymentshop/web, requested by ann'],
  ['who requested it, if that is all that is known', OF_OLDER_ADMIN, 'Reload requested by ann'],
] as const)('shows %s', async (_name, change, title) => {
  await mount(h(ChangeTable, { changes: [change], caption: 'Changes', empty: 'none' }));
  expect(findAll('a').map(({ textContent }) => textContent)).toEqual([title]);
});
