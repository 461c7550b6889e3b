import { compareIds, type Dropped, type StreamId } from '@reroll/core/history/stream-id';
import { readEntry } from './entry-codec.ts';
import {
  HISTORY_STREAMS,
  STREAM_START,
  streamKey,
  type HistoryStream,
  type HistoryStreams,
} from './history.ts';
import type { CatalogKeys } from '../catalog/keys.ts';
import type { RedisClient } from '../connection/redis.ts';

export type FollowedEntry = {
  [Name in HistoryStream]: {
    readonly stream: Name;
    readonly id: StreamId;
    readonly entry: HistoryStreams[Name];
  };
}[HistoryStream];

/** The id of the last entry read from each stream. */
export type Positions = Readonly<Record<HistoryStream, StreamId>>;

export const NO_POSITIONS: Positions = {
  changes: STREAM_START,
  outcomes: STREAM_START,
  rollouts: STREAM_START,
  audit: STREAM_START,
};

export interface StreamBounds {
  /** The id of its oldest entry; undefined if it is empty. */
  readonly oldest: StreamId | undefined;
  /** Whether older entries were dropped. Undefined: this server (before Redis 7) does not tell. */
  readonly isTrimmed: boolean | undefined;
  /** Whether this is the stream that was read up to the position, and nothing after the position is lost. */
  readonly continues: boolean;
  /** How many entries it has if the position is its end. */
  readonly length?: number;
}

export interface Portion {
  readonly entries: readonly FollowedEntry[];
  /** Earlier entries that made room for what was read (see `append.lua.ts`). */
  readonly dropped: readonly (Dropped & { readonly stream: HistoryStream })[];
  /** The positions after everything that was read, unusable entries included. */
  readonly positions: Positions;
  /** How many texts were not entries. */
  readonly unusable: number;
}

type Rows = readonly (readonly [string, readonly string[]])[];

/**
 * Reads the streams of the history, one after the other or as they grow. Every method rejects with ioredis' error if Redis cannot
 * be reached.
 */
export class HistoryReader {
  readonly #redis: RedisClient;
  readonly #waiting: RedisClient;
  readonly #keys: CatalogKeys;

  /** `waiting`: a separate connection (`openForWaiting`), because `next` blocks it. */
  constructor(by: { redis: RedisClient; waiting: RedisClient; keys: CatalogKeys }) {
    this.#redis = by.redis;
    this.#waiting = by.waiting;
    this.#keys = by.keys;
  }

  /** Returns at most `count` entries of one stream after a position; empty if there are no more now. */
  async page(stream: HistoryStream, by: { positions: Positions; count: number }): Promise<Portion> {
    const after = `(${by.positions[stream]}`;
    const rows: Rows = await this.#redis.xrange(this.#key(stream), after, '+', 'COUNT', by.count);
    return portion(by.positions, [[stream, rows]]);
  }

  /** Returns the entries after the positions as soon as there are any; nothing after `milliseconds` without one. */
  async next(positions: Positions, by: { count: number; milliseconds: number }): Promise<Portion> {
    const reply = await this.#waiting.xread(
      'COUNT',
      by.count,
      'BLOCK',
      by.milliseconds,
      'STREAMS',
      ...HISTORY_STREAMS.map((stream) => this.#key(stream)),
      ...HISTORY_STREAMS.map((stream) => positions[stream]),
    );
    const found = (reply ?? []).flatMap(([key, rows]): [HistoryStream, Rows][] => {
      const stream = HISTORY_STREAMS.find((name) => this.#key(name) === key);
      return stream ? [[stream, rows]] : [];
    });
    return portion(positions, found);
  }

  async bounds(stream: HistoryStream, position: StreamId): Promise<StreamBounds> {
    const key = this.#key(stream);
    const [info, [found]] = await Promise.all([
      this.#info(key),
      this.#redis.xrange(key, position, position, 'COUNT', 1),
    ]);
    if (!info) return { oldest: undefined, isTrimmed: false, continues: position === STREAM_START };
    const { last, length, added, oldest } = info;
    const isThere = found !== undefined || position === STREAM_START || position === last;
    return {
      oldest,
      isTrimmed: added === undefined ? undefined : added > length,
      continues: isThere && compareIds(last, position) >= 0,
      ...(position === last ? { length } : {}),
    };
  }

  /** Returns undefined if there is no such stream. */
  async #info(
    key: string,
  ): Promise<
    { last: StreamId; length: number; added: number | undefined; oldest: StreamId | undefined } | undefined
  > {
    if ((await this.#redis.exists(key)) === 0) return undefined;
    const flat = (await this.#redis.xinfo('STREAM', key).catch(noSuchKey)) as unknown[] | undefined;
    if (!flat) return undefined;
    const of = (name: string): unknown => flat[flat.indexOf(name) + 1];
    const added = flat.includes('entries-added') ? Number(of('entries-added')) : undefined;
    const first = of('first-entry') as [string] | null;
    return {
      last: String(of('last-generated-id')),
      length: Number(of('length')),
      added,
      oldest: first?.[0],
    };
  }

  #key(stream: HistoryStream): string {
    return streamKey(this.#keys, stream);
  }
}

/** The stream was deleted between the two queries. */
function noSuchKey(error: unknown): undefined {
  if (error instanceof Error && error.message.includes('no such key')) return undefined;
  throw error;
}

/** Before 0.1.0 an entry of the audit log had one id there. */
function droppedIn(text: string | undefined): Dropped[] {
  return (text?.split(' ') ?? []).map((each) => {
    const [id = '', share = ''] = each.split('=');
    return { id, share };
  });
}

function portion(before: Positions, found: readonly (readonly [HistoryStream, Rows])[]): Portion {
  const entries: FollowedEntry[] = [];
  const dropped: (Dropped & { stream: HistoryStream })[] = [];
  const positions: Record<HistoryStream, StreamId> = { ...before };
  let unusable = 0;
  for (const [stream, rows] of found)
    for (const [id, fields] of rows) {
      positions[stream] = id;
      const entry = readEntry[stream](fields[1] ?? '');
      if (entry) entries.push({ stream, id, entry } as FollowedEntry);
      else unusable += 1;
      for (const each of droppedIn(fields[3])) dropped.push({ stream, ...each });
    }
  return { entries, dropped, positions, unusable };
}
