import { DEPENDENCY_LOOKS, DEPENDENCY_STATES, type DependencyState } from '../../dependency-state.ts';
import { keyOf, type Ref } from '../../names.ts';

/** Something that the hub of a picture is tied to. */
export interface Spoke {
  readonly ref: Ref;
  /** Whether a change of the data reloads. */
  readonly rolls: boolean;
  readonly state: DependencyState;
}

/** By what the spokes of a large picture are put together. */
export const GROUPINGS = { state: 'State', kind: 'Kind' } as const;
export type Grouping = keyof typeof GROUPINGS;

export interface SpokeGroup {
  /** A state or a kind. */
  readonly key: string;
  readonly spokes: readonly Spoke[];
  readonly rolls: boolean;
  /** How many are in each state, the worst first. */
  readonly counts: readonly (readonly [DependencyState, number])[];
  /** Whether it is shown open from the beginning: a few that need attention. */
  readonly isOpen: boolean;
}

/** More than these are put into groups. */
const MOST_ALONE = 12;
/** So many of a group that need attention are shown at once. */
const FEW = 6;

export function isCrowded(spokes: readonly Spoke[]): boolean {
  return spokes.length > MOST_ALONE;
}

/** The worst first; of the same state, by kind and name. */
export function sortedSpokes(spokes: readonly Spoke[]): Spoke[] {
  return spokes.toSorted(
    (one, other) => rank(one.state) - rank(other.state) || compare(keyOf(one.ref), keyOf(other.ref)),
  );
}

/** The group with the worst state first. */
export function spokeGroups(spokes: readonly Spoke[], by: Grouping): SpokeGroup[] {
  const sorted = sortedSpokes(spokes);
  const groups = Map.groupBy(sorted, ({ state, ref }) => (by === 'state' ? state : ref.kind));
  return [...groups].map(([key, members]) => ({
    key,
    spokes: members,
    rolls: members.some(({ rolls }) => rolls),
    counts: countsOf(members),
    isOpen: members.length <= FEW && members.some(needsAttention),
  }));
}

function countsOf(spokes: readonly Spoke[]): SpokeGroup['counts'] {
  return [...Map.groupBy(spokes, ({ state }) => state)].map(([state, { length }]) => [state, length]);
}

function needsAttention({ state }: Spoke): boolean {
  const { tone } = DEPENDENCY_LOOKS[state];
  return tone === 'bad' || tone === 'warn' || state === 'stale';
}

function rank(state: DependencyState): number {
  return DEPENDENCY_STATES.indexOf(state);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
