import type { RedisClient } from '../connection/redis.ts';
import type { AuditEntry, ChangeEntry, OutcomeEntry, RolloutEntry } from '@reroll/core/history/entries';
import type { Before } from '@reroll/core/history/change-cause';
import { namespaceOf, type SourceKey } from '@reroll/core/model';
import { auditShareOf, mostAudited } from '@reroll/core/history/audit-share';
import { isRecordHash } from '@reroll/core/record/record-hash';
import { boundedChange, boundedOutcome, type HistoryLimits } from '@reroll/core/history/entry-bounds';
import { sourceKeyIn } from '@reroll/core/state/rows';
import { ADD_AUDIT } from './add-audit.lua.ts';
import { ADD_ENTRY, TRIM_BYTES } from './append.lua.ts';
import { readEntry, writeChange, writeOutcome } from './entry-codec.ts';
import type { CatalogKeys } from '../catalog/keys.ts';
import { TELL_CHANGE } from './tell-change.lua.ts';
import { BEGIN_TALLY, TELL_OUTCOME } from './tell-outcome.lua.ts';

/** The streams of the history, by name. */
export interface HistoryStreams {
  readonly changes: ChangeEntry;
  readonly outcomes: OutcomeEntry;
  readonly rollouts: RolloutEntry;
  readonly audit: AuditEntry;
}
export type HistoryStream = keyof HistoryStreams;

export const HISTORY_STREAMS: readonly HistoryStream[] = ['changes', 'outcomes', 'rollouts', 'audit'];

/** The position before the first entry of a stream. */
export const STREAM_START = '0-0';

/** The longest that Redis is to keep a tally (ms). */
const MONTH = 30 * 86_400_000;
/** Of the fields of a tally that count. */
const REASON = 'reason:';

/** An entry and its id in the stream, `<Unix ms>-<n>`: ids grow. */
export interface StreamEntry<Entry> {
  readonly id: string;
  readonly entry: Entry;
}

/** The key of a stream in Redis, for those who follow it by `XREAD`. */
export function streamKey(keys: CatalogKeys, stream: HistoryStream): string {
  return stream === 'rollouts' ? keys.rolloutHistory : keys[stream];
}

/** The entries of a reply of Redis that has `[id, ['entry', text]]` each; what is none is left out. */
function streamEntries<Name extends HistoryStream>(
  stream: Name,
  rows: readonly (readonly [string, readonly string[]])[],
): StreamEntry<HistoryStreams[Name]>[] {
  return rows.flatMap(([id, [, text = '']]) => {
    const entry = readEntry[stream](text) as HistoryStreams[Name] | undefined;
    return entry === undefined ? [] : [{ id, entry }];
  });
}

/** A wide change has no more outcomes of its own than these bytes; the others are counted. */
const OUTCOME_BYTES = 7_680;

/** Parts of the bytes, so that no stream pushes out what another one holds. */
const SHARES: Readonly<Record<HistoryStream, number>> = {
  changes: 1 / 2,
  outcomes: 1 / 4,
  rollouts: 1 / 8,
  audit: 1 / 8,
};

export function bytesOfStream(stream: HistoryStream, maxBytes: number): number {
  return Math.floor(maxBytes * SHARES[stream]);
}

/**
 * The history, Redis streams, bounded by count (a hundred more may be there) and by bytes as they are written, and by age
 * when trimmed. Entries are bounded too (see `entry-bounds.ts`).
 */
export class History {
  readonly #redis: RedisClient;
  readonly #keys: CatalogKeys;
  readonly #limits: HistoryLimits;

  constructor(redis: RedisClient, keys: CatalogKeys, limits: HistoryLimits) {
    this.#redis = redis;
    this.#keys = keys;
    this.#limits = limits;
  }

  /** What the next change of a source is told from; undefined: nothing changed since it was told. */
  async before(source: SourceKey): Promise<Before | undefined> {
    const text = await this.#redis.hget(this.#keys.before, source);
    if (text === null) return undefined;
    const colon = text.indexOf(':');
    const hash = text.slice(colon + 1);
    return {
      foundBy: text.slice(0, colon) === 'list' ? 'list' : 'event',
      hash: isRecordHash(hash) ? hash : null,
    };
  }

  /** Tells of a change: the next one of its source, if it has one, is counted from it. */
  async addChange(entry: ChangeEntry): Promise<void> {
    if (entry.source === null) return void (await this.addManual(entry));
    const { before, sources, changes } = this.#keys;
    const argv = [entry.source, entry.hash ?? '', writeChange(entry), ...this.#bounds('changes')];
    await this.#redis.eval(TELL_CHANGE, 3, before, sources, changes, ...argv);
  }

  /**
   * To be called before the workloads of a change are enqueued: if there are more than its entry lists, the outcomes of the
   * others are only counted from now on.
   */
  async expectOutcomes(entry: ChangeEntry): Promise<void> {
    const { woken, more } = boundedChange(entry);
    if (entry.source === null || !more || more.woken === 0) return;
    const argv = [entry.since, woken.at(-1)?.workload ?? '', Math.min(this.#limits.maxAge, MONTH)];
    await this.#redis.eval(BEGIN_TALLY, 1, this.#keys.tallies + entry.source, ...argv);
  }

  /** Outcomes, by reason, of a change that are only counted; null: they are not known, or not any more. */
  async tally({
    source,
    since,
  }: Pick<ChangeEntry, 'source' | 'since'>): Promise<Record<string, number> | null> {
    if (source === null) return null;
    const fields = await this.#redis.hgetall(this.#keys.tallies + source);
    if (fields['since'] !== String(since)) return null;
    const counts = Object.entries(fields).flatMap(([field, count]): [string, number][] =>
      field.startsWith(REASON) ? [[field.slice(REASON.length), Number(count)]] : [],
    );
    return Object.fromEntries(counts);
  }

  /** Tells that a person asked for a reload (`source` null); gives the id of that change. */
  async addManual(entry: ChangeEntry): Promise<string> {
    return await this.#add('changes', writeChange(entry));
  }

  /** `source`: the one whose change enqueued the job. */
  async addOutcome(entry: OutcomeEntry, source?: SourceKey): Promise<void> {
    const { workload, state, reason } = entry;
    const { rolled: names } = boundedOutcome(entry, source);
    const rolled = names.map((name) => sourceKeyIn(namespaceOf(workload), name));
    const tallies = [...new Set([...(source === undefined ? [] : [source]), ...rolled])].map(
      (key) => this.#keys.tallies + key,
    );
    const keys = [this.#keys.outcomes, ...tallies];
    const failed = state === 'failed' ? '1' : '';
    const argv = [OUTCOME_BYTES, workload, failed, reason, writeOutcome(entry, source)];
    await this.#redis.eval(TELL_OUTCOME, keys.length, ...keys, ...this.#bounds('outcomes'), ...argv);
  }

  /** Gives its id. */
  async addAudit(entry: AuditEntry): Promise<string> {
    const { audit, auditOf } = this.#keys;
    const { maxEntries, maxAge, maxBytes } = this.#limits;
    const bytes = bytesOfStream('audit', maxBytes);
    const argv = [maxEntries, mostAudited(maxEntries), maxAge, JSON.stringify(entry), bytes];
    return String(await this.#redis.eval(ADD_AUDIT, 2, audit, auditOf + auditShareOf(entry.actor), ...argv));
  }

  /** The latest entries, newest first. */
  async changes(count: number): Promise<ChangeEntry[]> {
    return (await this.latest('changes', count)).map(({ entry }) => entry);
  }

  async outcomes(count: number): Promise<OutcomeEntry[]> {
    return (await this.latest('outcomes', count)).map(({ entry }) => entry);
  }

  /** The latest entries of a stream, newest first. */
  async latest<Name extends HistoryStream>(
    stream: Name,
    count: number,
  ): Promise<StreamEntry<HistoryStreams[Name]>[]> {
    return streamEntries(
      stream,
      await this.#redis.xrevrange(streamKey(this.#keys, stream), '+', '-', 'COUNT', count),
    );
  }

  /** At most `count` entries after a position (`STREAM_START`, or an id), oldest first; none: there are no more now. */
  async page<Name extends HistoryStream>(
    stream: Name,
    by: { after: string; count: number },
  ): Promise<StreamEntry<HistoryStreams[Name]>[]> {
    const key = streamKey(this.#keys, stream);
    return streamEntries(stream, await this.#redis.xrange(key, `(${by.after}`, '+', 'COUNT', by.count));
  }

  /** At most `count` entries before a position (undefined: the end), newest first. */
  async earlier<Name extends HistoryStream>(
    stream: Name,
    by: { before: string | undefined; count: number },
  ): Promise<StreamEntry<HistoryStreams[Name]>[]> {
    const key = streamKey(this.#keys, stream);
    const end = by.before === undefined ? '+' : `(${by.before}`;
    return streamEntries(stream, await this.#redis.xrevrange(key, end, '-', 'COUNT', by.count));
  }

  /** How many entries a stream has. */
  async count(stream: HistoryStream): Promise<number> {
    return await this.#redis.xlen(streamKey(this.#keys, stream));
  }

  /** The id of the oldest entry that is still there. */
  async oldest(stream: HistoryStream): Promise<string | undefined> {
    const [first] = await this.#redis.xrange(streamKey(this.#keys, stream), '-', '+', 'COUNT', 1);
    return first?.[0];
  }

  /** Drops what is too old, and what an earlier version with other bounds left. `now` in Unix milliseconds. */
  async trim(now: number): Promise<void> {
    const oldest = String(Math.max(0, now - this.#limits.maxAge));
    // Exactly: with `~` an entry stays until the hundred that Redis keeps in one node are all too old.
    for (const stream of HISTORY_STREAMS) {
      const key = streamKey(this.#keys, stream);
      await this.#redis.xtrim(key, 'MINID', oldest);
      await this.#redis.eval(TRIM_BYTES, 1, key, bytesOfStream(stream, this.#limits.maxBytes));
    }
  }

  async #add(stream: HistoryStream, text: string): Promise<string> {
    const key = streamKey(this.#keys, stream);
    return String(await this.#redis.eval(ADD_ENTRY, 1, key, ...this.#bounds(stream), text));
  }

  /** Most entries, and most bytes, of a stream. */
  #bounds(stream: HistoryStream): [number, number] {
    const { maxEntries, maxBytes } = this.#limits;
    return [maxEntries, bytesOfStream(stream, maxBytes)];
  }
}
