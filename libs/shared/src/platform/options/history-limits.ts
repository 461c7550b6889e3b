import type { HistoryLimits } from '@reroll/core/history/entry-bounds';

export function historyLimits(options: {
  readonly historyMaxChanges: number;
  readonly historyMaxAge: number;
  readonly historyMaxBytes: number;
}): HistoryLimits {
  const { historyMaxChanges, historyMaxAge, historyMaxBytes } = options;
  return { maxEntries: historyMaxChanges, maxAge: historyMaxAge, maxBytes: historyMaxBytes };
}
