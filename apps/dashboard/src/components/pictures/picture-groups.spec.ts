import { describe, expect, it } from 'vitest';
import type { DependencyState } from '../../dependency-state.ts';
import { isCrowded, sortedSpokes, spokeGroups, type Spoke } from './picture-groups.ts';

function spokes(count: number, state: DependencyState, kind = 'Deployment'): Spoke[] {
  return Array.from({ length: count }, (_, at) => ({
    ref: { kind, namespace: 'shop', name: `${state}-${String(at).padStart(3, '0')}` },
    rolls: state !== 'none',
    state,
  }));
}

const MANY = [
  ...spokes(150, 'current'),
  ...spokes(30, 'none', 'CronJob'),
  ...spokes(15, 'pending'),
  ...spokes(3, 'held', 'StatefulSet'),
  ...spokes(2, 'stuck'),
];

describe('a picture of two hundred', () => {
  it('has a group for each state, the worst first, and only the few that need attention are open', () => {
    expect(
      spokeGroups(MANY, 'state').map(({ key, spokes: { length }, isOpen }) => [key, length, isOpen]),
    ).toEqual([
      ['stuck', 2, true],
      ['held', 3, true],
      ['pending', 15, false],
      ['current', 150, false],
      ['none', 30, false],
    ]);
  });

  it('has a group for each kind, with its states', () => {
    expect(spokeGroups(MANY, 'kind').map(({ key, counts }) => [key, ...counts])).toEqual([
      ['Deployment', ['stuck', 2], ['pending', 15], ['current', 150]],
      ['StatefulSet', ['held', 3]],
      ['CronJob', ['none', 30]],
    ]);
  });

  it('leaves nobody out, and ties a group if a change reloads one of it', () => {
    for (const by of ['state', 'kind'] as const) {
      const groups = spokeGroups(MANY, by);
      expect(new Set(groups.flatMap((group) => group.spokes))).toEqual(new Set(MANY));
      expect(groups.filter(({ rolls }) => !rolls).map(({ key }) => key)).toEqual([
        by === 'state' ? 'none' : 'CronJob',
      ]);
    }
  });

  it('opens a few that are stale, although no reload is pending', () => {
    expect(spokeGroups(spokes(6, 'stale'), 'state').map(({ isOpen }) => isOpen)).toEqual([true]);
  });

  it('does not open many, however bad they are', () => {
    expect(spokeGroups(spokes(7, 'failed'), 'state').map(({ isOpen }) => isOpen)).toEqual([false]);
  });
});

it('a picture of twelve shows each, the worst first, then by name', () => {
  const few = [...spokes(2, 'current'), ...spokes(1, 'stuck')].toReversed();
  expect(sortedSpokes(few).map(({ ref }) => ref.name)).toEqual(['stuck-000', 'current-000', 'current-001']);
  expect([12, 13].map((count) => isCrowded(spokes(count, 'current')))).toEqual([false, true]);
});
