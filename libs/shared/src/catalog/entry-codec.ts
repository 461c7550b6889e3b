import { z } from 'zod';
import type { AuditEntry, ChangeEntry, OutcomeEntry, RolloutEntry } from '../core/history/entries.ts';
import { AUDIT_RESULTS, CHANGE_CAUSES, OUTCOME_STATES } from '../core/history/entries.ts';
import { isKey } from '../core/model.ts';
import { ROLLOUT_STATES } from '../core/rollout.ts';

/**
 * Entries of the history as they are read. Whoever can write to Redis can write anything there: what has not the form
 * of an entry is none. What a newer process adds is left out; what an older one had not yet is filled in.
 */
const KEY = z.string().refine(isKey);
const TEXT = z.string().max(4_096);
const NAMES = z.record(TEXT, TEXT);
const MILLISECONDS = z.number().int().nonnegative().max(8.64e15);
const COUNT = z.number().int();

const ruling = z.object({ workload: KEY, reason: TEXT, detail: TEXT });
const request = z.object({ id: z.string().regex(/^\d{1,15}-[\w-]{1,64}$/), actor: TEXT, reason: TEXT });

const changeEntry = z.object({
  source: KEY.nullable(),
  cause: z.enum(CHANGE_CAUSES).default('updated'),
  since: MILLISECONDS,
  at: MILLISECONDS,
  from: TEXT.nullable().default(null),
  hash: TEXT.nullable(),
  woken: z.array(ruling),
  leftAlone: z.array(ruling),
  request: request.optional(),
});

const outcomeEntry = z.object({
  workload: KEY,
  state: z.enum(OUTCOME_STATES),
  reason: TEXT,
  sources: NAMES,
  rolled: z.array(TEXT),
  since: MILLISECONDS,
  at: MILLISECONDS,
  attempt: COUNT,
  attempts: COUNT.default(1),
  next: MILLISECONDS.optional(),
  generation: COUNT.optional(),
  error: TEXT.optional(),
  detail: TEXT.optional(),
  request: request.optional(),
});

const rolloutEntry = z.object({
  workload: KEY,
  generation: COUNT,
  state: z.enum(ROLLOUT_STATES),
  code: TEXT,
  updated: COUNT,
  ready: COUNT,
  desired: COUNT,
  since: MILLISECONDS,
  at: MILLISECONDS,
  conditions: z.array(z.object({ type: TEXT, status: TEXT, reason: TEXT })),
  pods: z
    .array(z.object({ name: TEXT, container: TEXT, reason: TEXT, message: TEXT }))
    .max(5)
    .optional(),
});

const auditEntry = z.object({
  at: MILLISECONDS,
  actor: TEXT,
  action: TEXT,
  target: TEXT,
  reason: TEXT,
  result: z.enum(AUDIT_RESULTS),
  code: TEXT.optional(),
  requestId: TEXT,
});

function reader<Entry>(schema: z.ZodType): (text: string) => Entry | undefined {
  return (text) => {
    try {
      const parsed = schema.safeParse(JSON.parse(text));
      return parsed.success ? (parsed.data as Entry) : undefined;
    } catch {
      return undefined;
    }
  };
}

/** Undefined: it is no entry. */
export const readEntry = {
  changes: reader<ChangeEntry>(changeEntry),
  outcomes: reader<OutcomeEntry>(outcomeEntry),
  rollouts: reader<RolloutEntry>(rolloutEntry),
  audit: reader<AuditEntry>(auditEntry),
} as const;
