/** The longest wait between two attempts to connect, in milliseconds. Attempts never end. */
const MAX_RECONNECT_DELAY = 2_000;

/** 50 ms, 100 ms, … 2 s, with up to a quarter of jitter. */
export function reconnectDelay(attempt: number): number {
  const delay = Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RECONNECT_DELAY);
  return Math.round(delay * (1 - Math.random() / 4));
}
