import type { HistoryLimits } from '../../core/history/entry-bounds.ts';

export function historyLimits(options: {
  readonly historyMaxChanges: number;
  readonly historyMaxAge: number;
  readonly historyMaxBytes: number;
}): HistoryLimits {
  const { historyMaxChanges, historyMaxAge, historyMaxBytes } = options;
  return { maxEntries: historyMaxChanges, maxAge: historyMaxAge, maxBytes: historyMaxBytes };
}
