import { vi } from 'vitest';
import { calmFor } from '../state/calm.ts';

/** For a spec that keeps calm: after the pauses of others that did so, and long before any spec that need not. */
export function goLongAgo(): void {
  vi.setSystemTime(0);
  vi.setSystemTime(calmFor());
}
