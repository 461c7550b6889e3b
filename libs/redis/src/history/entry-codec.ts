import { z } from 'zod';
import type {
  AuditEntry,
  ChangeEntry,
  OutcomeEntry,
  RolloutEntry,
  JudgedWorkload,
} from '@reroll/core/history/entries';
import { boundedChange, boundedOutcome } from '@reroll/core/history/entry-bounds';
import { AUDIT_RESULTS, CHANGE_CAUSES, OUTCOME_STATES } from '@reroll/core/history/entries';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { ROLLOUT_STATES } from '@reroll/core/rollouts/rollout';
import { KNOWN_WORKLOAD_KEY, SOURCE_KEY, WORKLOAD_KEY } from '../key-schemas.ts';

/**
 * Reads entries of the history. Whoever can write to Redis can write anything there, so a text without the form of an entry is
 * ignored. Fields of newer versions are dropped; fields that older versions lack are filled in.
 */

const TEXT = z.string().max(4_096);
const NAMES = z.record(TEXT, TEXT);
const MILLISECONDS = z.number().int().nonnegative().max(8.64e15);
const COUNT = z.number().int();

/** Workloads with the same reason and detail. */
const group = z.object({ workloads: z.array(KNOWN_WORKLOAD_KEY), reason: TEXT, detail: TEXT });
/** Before 0.1.0 each workload had its own reason and detail. */
const judged = z.object({ workload: KNOWN_WORKLOAD_KEY, reason: TEXT, detail: TEXT });
const judgedWorkloads = z.array(z.union([group, judged])).transform((all) => all.flatMap(judgedOf));
const request = z.object({ id: z.string().regex(/^\d{1,15}-[\w-]{1,64}$/), actor: TEXT, reason: TEXT });

const changeEntry = z.object({
  source: SOURCE_KEY.nullable(),
  cause: z.enum(CHANGE_CAUSES).default('updated'),
  since: MILLISECONDS,
  at: MILLISECONDS,
  from: TEXT.nullable().default(null),
  hash: TEXT.nullable(),
  woken: judgedWorkloads,
  leftAlone: judgedWorkloads,
  more: z.object({ woken: COUNT, leftAlone: COUNT }).optional(),
  merged: COUNT.optional(),
  request: request.optional(),
});

const outcomeFields = z.object({
  workload: WORKLOAD_KEY,
  state: z.enum(OUTCOME_STATES),
  reason: TEXT,
  sources: NAMES,
  rolled: z.array(TEXT),
  omitted: COUNT.optional(),
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

const outcomeEntry = z.preprocess(longOutcome, outcomeFields);

const rolloutEntry = z.object({
  workload: WORKLOAD_KEY,
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

const SHORT: ReadonlyMap<string, string> = new Map([
  ['workload', 'w'],
  ['state', 's'],
  ['reason', 'r'],
  ['sources', 'v'],
  ['rolled', 'p'],
  ['omitted', 'o'],
  ['since', 't'],
  ['at', 'a'],
  ['attempt', 'n'],
  ['attempts', 'm'],
  ['next', 'x'],
  ['generation', 'g'],
  ['error', 'e'],
  ['detail', 'd'],
  ['request', 'q'],
] satisfies [keyof OutcomeEntry, string][]);
const LONG: ReadonlyMap<string, string> = new Map([...SHORT].map(([name, short]) => [short, name]));

function judgedOf(
  each: z.infer<typeof group> | z.infer<typeof judged>,
): { workload: WorkloadKey; reason: string; detail: string }[] {
  const { reason, detail } = each;
  const workloads = 'workloads' in each ? each.workloads : [each.workload];
  return workloads.flatMap((workload) => (workload === undefined ? [] : [{ workload, reason, detail }]));
}

/** Encodes a change within its bounds, with each reason and detail once. */
export function writeChange(entry: ChangeEntry): string {
  const { woken, leftAlone, ...rest } = boundedChange(entry);
  return JSON.stringify({ ...rest, woken: grouped(woken), leftAlone: grouped(leftAlone) });
}

/** Encodes an outcome within its bounds, with short names, and without the verdict of the sources it reloaded for. */
export function writeOutcome(entry: OutcomeEntry, source?: SourceKey): string {
  const bounded = boundedOutcome(entry, source);
  const rolled = new Set(bounded.rolled);
  const sources = Object.entries(bounded.sources).filter(
    ([name, verdict]) => verdict !== 'Roll' || !rolled.has(name),
  );
  const verdicts = sources.length > 0 ? Object.fromEntries(sources) : undefined;
  const fields = Object.entries({ ...bounded, sources: verdicts });
  return JSON.stringify(Object.fromEntries(fields.map(([name, value]) => [SHORT.get(name) ?? name, value])));
}

/** Decodes what `writeOutcome` wrote. Before 0.1.0 the names were long; such entries are returned as they are. */
function longOutcome(stored: unknown): unknown {
  if (typeof stored !== 'object' || stored === null || !('w' in stored)) return stored;
  const fields = Object.entries(stored).map(([name, value]): [string, unknown] => [
    LONG.get(name) ?? name,
    value,
  ]);
  const { rolled, sources, ...rest } = Object.fromEntries(fields);
  const names: unknown[] = Array.isArray(rolled) ? rolled : [];
  const verdicts = Object.fromEntries(names.map((name) => [String(name), 'Roll']));
  return { ...rest, rolled, sources: { ...(sources as object | undefined), ...verdicts } };
}

function grouped(list: readonly JudgedWorkload[]): z.infer<typeof group>[] {
  const groups = new Map<string, z.infer<typeof group>>();
  for (const { workload, reason, detail } of list) {
    const key = `${reason} ${detail}`;
    const known = groups.get(key);
    if (known) known.workloads.push(workload);
    else groups.set(key, { reason, detail, workloads: [workload] });
  }
  return [...groups.values()];
}

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

/** Each returns undefined if the text is no entry. */
export const readEntry = {
  changes: reader<ChangeEntry>(changeEntry),
  outcomes: reader<OutcomeEntry>(outcomeEntry),
  rollouts: reader<RolloutEntry>(rolloutEntry),
  audit: reader<AuditEntry>(auditEntry),
} as const;
