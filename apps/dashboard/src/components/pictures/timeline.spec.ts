import { inBrowser, mount, text } from '../../testing/mounted.ts';
import { h } from 'preact';
import { expect, it } from 'vitest';
import type { ChangeSummary } from '@reroll/shared/api/changes';
import { Timeline } from './timeline.tsx';

inBrowser();

const CHANGE = { seenAt: '2026-01-01T00:30:00Z', states: {} } as unknown as ChangeSummary;

it.each([
  [1, 'Only the newest change is drawn.'],
  [2, 'Only the newest 2 changes are drawn.'],
])('a timeline of %d of more changes says: %s', async (count, expected) => {
  const [from, to] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-01T01:00:00Z')];
  const selection = { span: undefined, select: () => undefined };
  const changes = Array.from({ length: count }, () => CHANGE);
  await mount(h(Timeline, { changes, from, to, isCut: true, selection }));
  expect(text()).toContain(expected);
});
