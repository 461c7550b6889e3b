import { vi } from 'vitest';
import { simulatedTimers, use } from '../../globals.ts';
import type { Events } from '../../scheduler.ts';

/** Lets timers, the time and random numbers of this process come from a scheduler. Returns what sets them back. */
export function useVirtualTime(events: Events): () => void {
  use(events);
  for (const [name, timer] of Object.entries(simulatedTimers)) vi.stubGlobal(name, timer);
  const date = vi.spyOn(Date, 'now').mockImplementation(() => events.now());
  const random = vi.spyOn(Math, 'random').mockImplementation(() => events.random());
  return () => {
    vi.unstubAllGlobals();
    date.mockRestore();
    random.mockRestore();
  };
}
