/** The least quiet period in milliseconds, unless the debounce is shorter. */
const LEAST = 100;

/** Milliseconds without a change that end a wait early: a fifth of the debounce. */
export function quietOf(debounce: number): number {
  return Math.min(debounce, Math.max(LEAST, Math.ceil(debounce / 5)));
}
