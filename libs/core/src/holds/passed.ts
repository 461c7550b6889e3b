import type { HoldReason } from './hold.ts';

/** What a manual reload may pass on the word of whoever asks for it. Never an approval: that is the word of somebody else. */
const NOW = [
  'OutsideWindow',
  'TooOften',
  'AwaitsWave',
  'WaveHalted',
  'AwaitsRollouts',
] as const satisfies readonly HoldReason[];
const PASSABLE: readonly unknown[] = ['Frozen', ...NOW];

/** The holds that a manual reload passes. `now`: those that only delay it. `overrideFreeze`: also whoever has frozen it. */
export function passedHolds({
  now = false,
  overrideFreeze = false,
}: {
  now?: boolean | undefined;
  overrideFreeze?: boolean | undefined;
}): HoldReason[] {
  return [...(overrideFreeze ? (['Frozen'] as const) : []), ...(now ? NOW : [])];
}

/** Reads what `passedHolds` returned; anything that may not be passed is left out. */
export function readPassedHolds(value: unknown): HoldReason[] {
  return Array.isArray(value)
    ? value.filter((each: unknown): each is HoldReason => PASSABLE.includes(each))
    : [];
}
