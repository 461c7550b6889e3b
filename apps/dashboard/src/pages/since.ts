/** Choices of how far back to look: minutes, and the words. */
export const SINCE = [
  ['15', '15 minutes'],
  ['60', '1 hour'],
  ['360', '6 hours'],
  ['1440', '1 day'],
  ['10080', '7 days'],
] as const;

/** The time that many minutes ago, to the minute, as the API takes it; undefined for what is no number. */
export function sinceOf(minutes: string | undefined): string | undefined {
  const count = Number(minutes);
  if (minutes === undefined || !Number.isFinite(count) || count <= 0) return undefined;
  return new Date(Math.floor(Date.now() / 60_000 - count) * 60_000).toISOString();
}
