import { isPassing } from '@reroll/core/history/attribution';
import type { RedisClient } from '../connection/redis.ts';
import type { AuditEntry, ChangeEntry, OutcomeEntry, RolloutEntry } from '@reroll/core/history/entries';
import type { Before } from '@reroll/core/history/change-cause';
import { namespaceOf, type SourceKey } from '@reroll/core/model';
import { auditShareOf } from '@reroll/core/history/audit-share';
import { isRecordHash } from '@reroll/core/record/record-hash';
import { boundedChange, boundedOutcome, type HistoryLimits } from '@reroll/core/history/entry-bounds';
import { sourceKeyIn } from '@reroll/core/state/rows';
import { ADD_ENTRY, TRIM } from './append.lua.ts';
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

/** How long Redis keeps a tally at most (ms). */
const MONTH = 30 * 86_400_000;
/** Prefix of the fields of a tally that count. */
const REASON = 'reason:';

/** An entry and its id in the stream, `<Unix ms>-<n>`; ids increase. */
export interface StreamEntry<Entry> {
  readonly id: string;
  readonly entry: Entry;
}

/** Returns the Redis key of a stream, for followers by `XREAD`. */
export function streamKey(keys: CatalogKeys, stream: HistoryStream): string {
  return stream === 'rollouts' ? keys.rolloutHistory : keys[stream];
}

/** Returns the Redis keys of a stream and of its shares (see `append.lua.ts`), for scripts that write to it. */
export function streamKeys(keys: CatalogKeys, stream: HistoryStream): [string, string] {
  return [streamKey(keys, stream), keys.shares + stream];
}

/** Parses a reply of Redis with `[id, ['entry', text]]` for each entry; leaves out invalid ones. */
function streamEntries<Name extends HistoryStream>(
  stream: Name,
  rows: readonly (readonly [string, readonly string[]])[],
): StreamEntry<HistoryStreams[Name]>[] {
  return rows.flatMap(([id, [, text = '']]) => {
    const entry = readEntry[stream](text) as HistoryStreams[Name] | undefined;
    return entry === undefined ? [] : [{ id, entry }];
  });
}

/** The most bytes of the last outcomes that a wide change lists; the others are only counted. */
const OUTCOME_BYTES = 7_680;
/** The most bytes of the outcomes before those. One of a hold takes about 260. */
const PASSING_BYTES = 16_384;

/** Shares of the bytes, so that no stream crowds out another. */
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
 * The history in Redis streams. Writes limit each stream by count and by bytes; `trim` limits it by age. Entries have limits too (see `entry-bounds.ts`).
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

  /** Returns the state from which the next change of a source is reported; undefined if nothing changed since the last report. */
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

  /** Reports a change; the next change of its source, if it has one, starts from it. */
  async addChange(entry: ChangeEntry): Promise<void> {
    if (entry.source === null) return void (await this.addManual(entry));
    const { before, sources } = this.#keys;
    const keys = [before, sources, ...streamKeys(this.#keys, 'changes')];
    const bounds = [namespaceOf(entry.source), ...this.#bounds('changes')];
    const argv = [entry.source, entry.hash ?? '', ...bounds, writeChange(entry)];
    await TELL_CHANGE.run(this.#redis, keys, argv);
  }

  /**
   * Prepares the outcomes of a change; call it before enqueueing its workloads. If there are more than the entry lists, the
   * outcomes of the others are only counted.
   */
  async expectOutcomes(entry: ChangeEntry): Promise<void> {
    const { woken, more } = boundedChange(entry);
    if (entry.source === null || !more || more.woken === 0) return;
    const argv = [entry.since, woken.at(-1)?.workload ?? '', Math.min(this.#limits.maxAge, MONTH)];
    await BEGIN_TALLY.run(this.#redis, [this.#keys.tallies + entry.source], argv);
  }

  /** Returns the number of outcomes by reason that a change only counts; null if they are not known. */
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

  /** Reports a manual reload (`source` null); returns the id of that change. */
  async addManual(entry: ChangeEntry): Promise<string> {
    const [workload] = entry.woken.map((each) => each.workload);
    const share = workload === undefined ? '' : namespaceOf(workload);
    return await this.#add('changes', share, writeChange(entry));
  }

  /** `source`: the one whose change enqueued the job. */
  async addOutcome(entry: OutcomeEntry, source?: SourceKey): Promise<void> {
    const { workload, state, reason } = entry;
    const { rolled: names } = boundedOutcome(entry, source);
    const rolled = names.map((name) => sourceKeyIn(namespaceOf(workload), name));
    const tallies = [...new Set([...(source === undefined ? [] : [source]), ...rolled])].map(
      (key) => this.#keys.tallies + key,
    );
    const keys = [...streamKeys(this.#keys, 'outcomes'), ...tallies];
    const isLast = !isPassing(entry);
    const kind = !isLast ? 'passing' : state === 'failed' ? 'failed' : '';
    const most = isLast ? OUTCOME_BYTES : PASSING_BYTES;
    const bounds = [namespaceOf(workload), ...this.#bounds('outcomes')];
    const argv = [...bounds, most, workload, kind, reason, writeOutcome(entry, source)];
    await TELL_OUTCOME.run(this.#redis, keys, argv);
  }

  /** Returns the entry's id. */
  async addAudit(entry: AuditEntry): Promise<string> {
    return await this.#add('audit', auditShareOf(entry.actor), JSON.stringify(entry));
  }

  /** Returns the latest entries, newest first. */
  async changes(count: number): Promise<ChangeEntry[]> {
    return (await this.latest('changes', count)).map(({ entry }) => entry);
  }

  async outcomes(count: number): Promise<OutcomeEntry[]> {
    return (await this.latest('outcomes', count)).map(({ entry }) => entry);
  }

  /** Returns the latest entries of a stream, newest first. */
  async latest<Name extends HistoryStream>(
    stream: Name,
    count: number,
  ): Promise<StreamEntry<HistoryStreams[Name]>[]> {
    return streamEntries(
      stream,
      await this.#redis.xrevrange(streamKey(this.#keys, stream), '+', '-', 'COUNT', count),
    );
  }

  /** Returns at most `count` entries after a position (`STREAM_START` or an id), oldest first; empty if there are no more now. */
  async page<Name extends HistoryStream>(
    stream: Name,
    by: { after: string; count: number },
  ): Promise<StreamEntry<HistoryStreams[Name]>[]> {
    const key = streamKey(this.#keys, stream);
    return streamEntries(stream, await this.#redis.xrange(key, `(${by.after}`, '+', 'COUNT', by.count));
  }

  /** Returns at most `count` entries before a position (undefined: the end), newest first. */
  async earlier<Name extends HistoryStream>(
    stream: Name,
    by: { before: string | undefined; count: number },
  ): Promise<StreamEntry<HistoryStreams[Name]>[]> {
    const key = streamKey(this.#keys, stream);
    const end = by.before === undefined ? '+' : `(${by.before}`;
    return streamEntries(stream, await this.#redis.xrevrange(key, end, '-', 'COUNT', by.count));
  }

  async count(stream: HistoryStream): Promise<number> {
    return await this.#redis.xlen(streamKey(this.#keys, stream));
  }

  async oldest(stream: HistoryStream): Promise<string | undefined> {
    const [first] = await this.#redis.xrange(streamKey(this.#keys, stream), '-', '+', 'COUNT', 1);
    return first?.[0];
  }

  /** Drops entries that are too old, and what an earlier version with other limits left. `now` in Unix milliseconds. */
  async trim(now: number): Promise<void> {
    const oldest = String(Math.max(0, now - this.#limits.maxAge));
    for (const stream of HISTORY_STREAMS) {
      const argv = [bytesOfStream(stream, this.#limits.maxBytes), oldest];
      await TRIM.run(this.#redis, streamKeys(this.#keys, stream), argv);
    }
  }

  async #add(stream: HistoryStream, share: string, text: string): Promise<string> {
    const keys = streamKeys(this.#keys, stream);
    return String(await ADD_ENTRY.run(this.#redis, keys, [share, ...this.#bounds(stream), text]));
  }

  /** Returns the most entries and the most bytes of a stream. */
  #bounds(stream: HistoryStream): [number, number] {
    const { maxEntries, maxBytes } = this.#limits;
    return [maxEntries, bytesOfStream(stream, maxBytes)];
  }
}
