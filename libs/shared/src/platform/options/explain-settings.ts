import type { ExplainSettings } from '@reroll/core/explain/facts';
import { decisionSettings } from './decision-settings.ts';
import type { WorkerOptions } from './parsing/table.ts';
import { adoptStaleOf, triggersOf } from './triggers.ts';

export function explainSettings(options: WorkerOptions): ExplainSettings {
  return {
    decision: decisionSettings(options),
    triggers: triggersOf(options),
    adoptStale: adoptStaleOf(options),
    dryRun: options.dryRun,
    notifyOnly: options.webhookUrl !== undefined,
  };
}
