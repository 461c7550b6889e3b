import type { Annotations } from '../model.ts';

/** Most installs have a handful; what nobody shares is not worth more. */
const MOST = 1_000;
const MOST_CHARACTERS = 200;
const shared = new Map<string, Annotations>();

/** Returns one object for all that say the same: most workloads of a cluster say `auto` and no more. */
export function sharedAnnotations(entries: readonly (readonly [key: string, value: string])[]): Annotations {
  const text = JSON.stringify(entries);
  const held = shared.get(text);
  if (held) return held;
  const made: Annotations = Object.freeze(Object.fromEntries(entries));
  if (text.length > MOST_CHARACTERS) return made;
  if (shared.size >= MOST) shared.clear();
  shared.set(text, made);
  return made;
}
