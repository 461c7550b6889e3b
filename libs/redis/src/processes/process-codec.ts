import { jsonOf } from '@reroll/core/json';
import { z } from 'zod';
import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { SOURCE_KINDS } from '@reroll/core/model';

export const PROCESS_APPS = ['watcher', 'worker', 'admin'] as const;

/**
 * Reads heartbeat entries. Whoever can write to Redis can write anything there, so a text without the form of an entry is ignored.
 * Fields of newer versions are kept. Settings of another form count as none, so that a worker of a newer version is a worker still.
 */
const TEXT = z.string().max(1_024);
const MILLISECONDS = z.number().int().nonnegative().max(8.64e15);
const COUNT = z.number().int().nonnegative();
const NAMES = Object.keys(DEFAULT_ANNOTATION_KEYS).filter((name) => name !== 'adopt');

const settings = z.looseObject({
  decision: z.looseObject({
    keys: z.looseObject({
      ...Object.fromEntries(NAMES.map((name) => [name, TEXT])),
      adopt: z.array(TEXT).optional(),
      limits: z.object({ listWords: COUNT, listBytes: COUNT, patternCost: COUNT, sources: COUNT }).optional(),
    }),
    autoReloadAll: z.boolean(),
    ignoredWorkloadTypes: z.array(TEXT),
    recreateFinishedJobs: z.boolean().optional(),
    ignoredSourceKinds: z.array(z.enum(SOURCE_KINDS)).optional(),
  }),
  triggers: z.looseObject({
    onCreate: z.boolean(),
    onDelete: z.enum(['never', 'marked', 'always']),
    afterRestart: z.boolean(),
    announced: z.boolean().optional(),
  }),
  adoptStale: z.enum(['report', 'reload']),
  dryRun: z.boolean(),
  notifyOnly: z.boolean(),
  cronJobStrategy: z.enum(['run', 'patch']).optional(),
  holds: z
    .looseObject({ window: TEXT.optional(), approval: TEXT.optional(), limit: TEXT.optional() })
    .optional(),
});

const entry = z.looseObject({
  app: z.enum(PROCESS_APPS),
  name: TEXT,
  version: TEXT,
  startedAt: MILLISECONDS,
  seenAt: MILLISECONDS,
  leader: z.boolean().optional(),
  synced: z.boolean().optional(),
  owed: z.object({ workloads: COUNT, since: MILLISECONDS.nullable() }).optional(),
  redisFull: z.boolean().optional(),
  settings: settings.optional().catch(undefined),
  concurrency: COUNT.optional(),
  reloadsPerMinute: COUNT.optional(),
});

/** Returns undefined if the text is no entry. */
export function readProcess(text: string): z.infer<typeof entry> | undefined {
  return entry.safeParse(jsonOf(text)).data;
}
