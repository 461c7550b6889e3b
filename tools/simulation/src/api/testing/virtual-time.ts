import { Events } from '../../scheduler.ts';

/** Turns of the event loop after each event: the Reflector waits for turns of its own between batches. */
const TURNS = 4;

/** A scheduler for specs. */
export function virtualTime(seed = 1): Events {
  return new Events(seed, Date.UTC(2026, 0, 2), TURNS);
}
