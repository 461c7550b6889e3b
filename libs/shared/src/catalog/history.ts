import type { RedisClient } from './redis.ts';
import type { AuditEntry, ChangeEntry, OutcomeEntry, RolloutEntry } from '../core/history/entries.ts';
import type { Before } from '../core/history/change-cause.ts';
import type { SourceKey } from '../core/model.ts';
import { auditShareOf, mostAudited } from '../core/history/audit-share.ts';
import { isRecordHash } from '../core/record/record-hash.ts';
import { ADD_AUDIT } from './add-audit.lua.ts';
import { readEntry } from './entry-codec.ts';
import type { CatalogKeys } from './keys.ts';
import { TELL_CHANGE } from './tell-change.lua.ts';

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

export interface HistoryLimits {
  readonly maxEntries: number;
  /** Milliseconds. */
  readonly maxAge: number;
}

/**
 * The history, Redis streams, bounded by count as they are written (a hundred more may be there) and by
 * age when trimmed.
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
    const { maxEntries } = this.#limits;
    const argv = [entry.source, entry.hash ?? '', JSON.stringify(entry), maxEntries];
    await this.#redis.eval(TELL_CHANGE, 3, before, sources, changes, ...argv);
  }

  /** Tells that a person asked for a reload (`source` null); gives the id of that change. */
  async addManual(entry: ChangeEntry): Promise<string> {
    return await this.#add('changes', entry);
  }

  async addOutcome(entry: OutcomeEntry): Promise<void> {
    await this.#add('outcomes', entry);
  }

  /** Gives its id. */
  async addAudit(entry: AuditEntry): Promise<string> {
    const { audit, auditOf } = this.#keys;
    const { maxEntries, maxAge } = this.#limits;
    const argv = [maxEntries, mostAudited(maxEntries), maxAge, JSON.stringify(entry)];
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

  /** Drops what is too old. `now` in Unix milliseconds. */
  async trim(now: number): Promise<void> {
    const oldest = String(Math.max(0, now - this.#limits.maxAge));
    // Exactly: with `~` an entry stays until the hundred that Redis keeps in one node are all too old.
    for (const stream of HISTORY_STREAMS)
      await this.#redis.xtrim(streamKey(this.#keys, stream), 'MINID', oldest);
  }

  async #add(stream: HistoryStream, entry: HistoryStreams[HistoryStream]): Promise<string> {
    const id = await this.#redis.xadd(
      streamKey(this.#keys, stream),
      'MAXLEN',
      '~',
      this.#limits.maxEntries,
      '*',
      'entry',
      JSON.stringify(entry),
    );
    // Null only where a stream is not to be made.
    return id ?? STREAM_START;
  }
}
