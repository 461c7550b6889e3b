import type { HoldReason } from './hold.ts';

/** `Frozen`: freezes of the workload and its Namespace only. Whoever may pass those may not pass a freeze of the whole installation. */
export type PassedHold = HoldReason | 'InstallationFrozen';

/** What a manual reload may pass on the word of whoever asks for it. Never an approval: that is the word of somebody else. */
const NOW = [
  'OutsideWindow',
  'TooOften',
  'AwaitsWave',
  'WaveHalted',
  'AwaitsRollouts',
] as const satisfies readonly HoldReason[];
const PASSABLE: readonly unknown[] = ['Frozen', 'InstallationFrozen', ...NOW];

/**
 * The holds that a manual reload passes. `now`: those that only delay it. `overrideFreeze`: also whoever has frozen it.
 * `overrideFreezeOfAll`: also whoever has frozen the installation.
 */
export function passedHolds({
  now = false,
  overrideFreeze = false,
  overrideFreezeOfAll = false,
}: {
  now?: boolean | undefined;
  overrideFreeze?: boolean | undefined;
  overrideFreezeOfAll?: boolean | undefined;
}): PassedHold[] {
  return [
    ...(overrideFreeze ? (['Frozen'] as const) : []),
    ...(overrideFreezeOfAll ? (['InstallationFrozen'] as const) : []),
    ...(now ? NOW : []),
  ];
}

/** Reads what `passedHolds` returned; anything that may not be passed is left out. */
export function readPassedHolds(value: unknown): PassedHold[] {
  return Array.isArray(value)
    ? value.filter((each: unknown): each is PassedHold => PASSABLE.includes(each))
    : [];
}
