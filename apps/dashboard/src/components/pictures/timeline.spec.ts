import { find, inBrowser, mount, text } from '../../testing/mounted.ts';
import { h } from 'preact';
import { expect, it } from 'vitest';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import { Timeline } from './timeline.tsx';

inBrowser();

const CHANGE = { seenAt: '2026-01-01T00:30:00Z', states: {} } as unknown as ChangeSummary;

async function draw(changes: readonly ChangeSummary[], isCut: boolean): Promise<void> {
  const [from, to] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-01T01:00:00Z')];
  const selection = { span: undefined, select: () => undefined };
  const query = { namespace: 'shop', since: '60' };
  await mount(h(Timeline, { query, changes, from, to, isCut, selection }));
}

it.each([
  [1, 'Only the newest change is drawn.'],
  [2, 'Only the newest 2 changes are drawn.'],
])('a timeline of %d of more changes says: %s', async (count, expected) => {
  await draw(
    Array.from({ length: count }, () => CHANGE),
    true,
  );
  expect(text()).toContain(expected);
  expect(find('a', 'All changes').attributes.get('href')).toBe('#/changes?namespace=shop&since=60');
});

it.each([
  [1, '1 more workload is only counted, and not drawn.'],
  [1_200, '1,200 more workloads are only counted, and not drawn.'],
])('a timeline tells of %d workloads that the history does not list', async (leftAlone, expected) => {
  await draw([CHANGE], false);
  expect(text()).not.toContain('only counted');
  await draw([CHANGE, { ...CHANGE, more: { woken: 0, leftAlone } }], false);
  expect(text()).toContain(expected);
});
