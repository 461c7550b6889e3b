import { changed, reloaded } from '@reroll/core/testing/history';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Access, Caller } from '../auth/caller.ts';
import { anonymousReader } from '../auth/static-tokens.ts';
import { Cursors } from '../http/cursors.ts';
import type { ShownHashes } from '../shown-hashes.ts';
import { EventStream, type EventStreamContext } from './event-stream.ts';
import type { EventWriter } from './event-writer.ts';
import { HistoryContents } from './history-contents.ts';
import type { ReadModel } from './read-model.ts';

/** A stream of an empty history that is woken at once, three times; then the reader leaves. */
function streaming(caller: Caller): EventStream {
  const gone = new AbortController();
  let told = 0;
  const onChange = (listener: () => void): (() => void) => {
    told += 1;
    queueMicrotask(() => (told > 3 ? gone.abort() : listener()));
    return () => undefined;
  };
  const context: EventStreamContext = {
    model: { contents: new HistoryContents(), onChange } as unknown as ReadModel,
    hashes: {} as ShownHashes,
    cursors: new Cursors(() => 'secret'),
    caller,
    namespace: undefined,
    writer: { begin: () => Promise.resolve(), beat: () => Promise.resolve() } as unknown as EventWriter,
    signal: gone.signal,
  };
  return new EventStream(context);
}

/** True this many times, then false. */
function times(most: number): () => Promise<boolean> {
  let asked = 0;
  return () => {
    asked += 1;
    return Promise.resolve(asked <= most);
  };
}

describe('a stream', () => {
  it('goes on while its reader may', async () => {
    expect(await streaming(anonymousReader()).run(undefined)).toBe('gone');
  });

  it('ends when its reader is known no more', async () => {
    const caller = { ...anonymousReader(), isKnown: times(2) };
    expect(await streaming(caller).run(undefined)).toBe('right');
  });

  it('ends when the right to it is taken away', async () => {
    const asked: Access[] = [];
    const may = times(2);
    const mayRequest = (access: Access): Promise<boolean> => {
      asked.push(access);
      return may();
    };
    expect(await streaming({ ...anonymousReader(), mayRequest }).run(undefined)).toBe('right');
    expect(asked).toHaveLength(3);
    expect(asked[0]).toEqual({ method: 'get', path: '/api/v1/events', writes: false });
  });
});

/** What a reader of the namespace `shop` receives, each with the milliseconds since the stream began. */
class Reader {
  readonly got: { readonly what: string; readonly at: number; readonly id: string }[] = [];
  readonly #model: { contents: HistoryContents; listeners: Set<() => void> };
  readonly #gone = new AbortController();
  readonly ended: Promise<string>;
  #changes = 0;

  constructor(lastEventId?: string, contents = new HistoryContents()) {
    const began = Date.now();
    const noted = (what: string) => (id: string, name?: string) => {
      this.got.push({ what: name ?? what, at: Date.now() - began, id });
      return Promise.resolve();
    };
    const listeners = new Set<() => void>();
    this.#model = { contents, listeners };
    const onChange = (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    };
    this.ended = new EventStream({
      model: { contents, onChange } as unknown as ReadModel,
      hashes: { shown: () => null } as unknown as ShownHashes,
      cursors: CURSORS,
      caller: { ...anonymousReader(), seesAll: () => Promise.resolve(false), sees: seesShop },
      namespace: undefined,
      writer: { begin: noted('begin'), beat: noted('beat'), send: noted('') } as unknown as EventWriter,
      signal: this.#gone.signal,
    }).run(lastEventId);
  }

  get whatAndWhen(): unknown[] {
    return this.got.map(({ what, at }) => [what, at]);
  }

  /** Adds a change in a namespace. */
  change(source: `ConfigMap/${string}/${string}`): void {
    const { contents, listeners } = this.#model;
    this.#changes += 1;
    const id = `${Date.now()}-${10 ** this.#changes}`;
    contents.add({ stream: 'changes', id, entry: changed(Date.now(), { source, woken: [] }) });
    contents.positions = { ...contents.positions, changes: id };
    for (const listener of listeners) listener();
  }

  async end(): Promise<void> {
    this.#gone.abort();
    await this.ended;
  }
}

describe('the audit events of a namespace', () => {
  it.each([
    ['Namespace/shop', ['audit']],
    ['reloads:17 Deployment/shop/web', ['audit']],
    ['Namespace/bank', []],
    ['Deployment/bank/shop', []],
    ['reloads', []],
  ])('that is asked for: of %s come %j', async (target, expected) => {
    const entry = { at: Date.now(), actor: 'ann', action: 'freezeNamespace', target, reason: 'r' };
    const sent = await sentOf((contents) => {
      contents.add({ stream: 'audit', id: '1-1', entry: { ...entry, result: 'done', requestId: '1' } });
      contents.positions = { ...contents.positions, audit: '1-1' };
    });
    expect(sent.map(([name]) => name)).toEqual(expected);
  });
});

it('an outcome comes with all changes that it is for', async () => {
  const sent = await sentOf((contents) => {
    for (const at of [1, 2])
      contents.add({
        stream: 'changes',
        id: `${at}-0`,
        entry: changed(at, { source: `ConfigMap/shop/c${at}` }),
      });
    const sources = { 'ConfigMap/c1': 'Roll', 'ConfigMap/c2': 'Roll' };
    const entry = reloaded(3, { sources, rolled: Object.keys(sources) });
    contents.add({ stream: 'outcomes', id: '3-0', entry });
    contents.positions = { ...contents.positions, changes: '2-0', outcomes: '3-0' };
  });
  const otherChanges = [{ change: '2-0', state: 'reloaded' }];
  expect(sent.filter(([name]) => name === 'outcome')).toMatchObject([
    ['outcome', { change: '1-0', otherChanges }],
  ]);
});

/** What is sent of what is added while a reader of the namespace `shop` waits. */
async function sentOf(add: (contents: HistoryContents) => void): Promise<[name: string, data: unknown][]> {
  const contents = new HistoryContents();
  const gone = new AbortController();
  const sent: [string, unknown][] = [];
  let wake = (): void => undefined;
  const onChange = (listener: () => void): (() => void) => {
    wake = listener;
    return () => undefined;
  };
  const ended = new EventStream({
    model: { contents, onChange } as unknown as ReadModel,
    hashes: { shown: () => null } as unknown as ShownHashes,
    cursors: CURSORS,
    caller: anonymousReader(),
    namespace: 'shop',
    writer: {
      begin: () => Promise.resolve(),
      send: (_: string, ...told: [string, unknown]) => Promise.resolve(sent.push(told)),
    } as unknown as EventWriter,
    signal: gone.signal,
  }).run(undefined);
  await settled();
  add(contents);
  wake();
  await settled();
  gone.abort();
  await ended;
  return sent;
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
const CURSORS = new Cursors(() => 'secret');
const seesShop = (namespace: string): Promise<boolean> => Promise.resolve(namespace === 'shop');

describe('what happens where the reader may not look', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_763_737_200_000 }));
  afterEach(() => void vi.useRealTimers());

  it('is not told by the times of heartbeats, nor by the length of ids', async () => {
    const [quiet, busy] = [new Reader(), new Reader()];
    for (let second = 0; second < 59; second += 1) {
      await vi.advanceTimersByTimeAsync(1_000);
      if (second % 7 === 0) busy.change('ConfigMap/bank/keys');
    }
    await vi.advanceTimersByTimeAsync(1_000);
    expect(quiet.whatAndWhen).toEqual([
      ['begin', 0],
      ['beat', 15_000],
      ['beat', 30_000],
      ['beat', 45_000],
      ['beat', 60_000],
    ]);
    expect(busy.whatAndWhen).toEqual(quiet.whatAndWhen);
    const lengths = [...quiet.got, ...busy.got].map(({ id }) => id.length);
    expect(new Set(lengths).size).toBe(1);
    await Promise.all([quiet.end(), busy.end()]);
  });

  it('is behind the id of a heartbeat, and what comes later is told to who comes back with it', async () => {
    const contents = new HistoryContents();
    const reader = new Reader(undefined, contents);
    reader.change('ConfigMap/shop/cm');
    await vi.advanceTimersByTimeAsync(1_000);
    reader.change('ConfigMap/bank/keys');
    await vi.advanceTimersByTimeAsync(14_000);
    expect(reader.whatAndWhen).toEqual([
      ['begin', 0],
      ['change', 0],
      ['beat', 15_000],
    ]);
    await reader.end();
    reader.change('ConfigMap/shop/cm');
    const back = new Reader(reader.got.at(-1)?.id, contents);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(back.got.map(({ what }) => what)).toEqual(['begin', 'change']);
    await back.end();
  });

  it('is not sent again once it was trimmed: the stream begins anew for who comes back', async () => {
    const contents = new HistoryContents();
    const before = new Reader(undefined, contents);
    before.change('ConfigMap/shop/cm');
    await vi.advanceTimersByTimeAsync(15_000);
    await before.end();
    contents.drop('changes', `${Date.now()}-0`);
    const back = new Reader(before.got.at(-1)?.id, contents);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(back.got.map(({ what }) => what)).toEqual(['begin', 'reset']);
    await back.end();
  });

  it.each([
    ['an id in plain', '1763737200000-0,0-0,0-0,0-0'],
    ['one that was sealed under another secret', new Cursors(() => 'other').seal('0-0,0-0,0-0,0-0')],
  ])('is not learned by %s: the stream begins anew, from now', async (_sentence, id) => {
    const contents = new HistoryContents();
    const before = new Reader(undefined, contents);
    before.change('ConfigMap/shop/cm');
    await before.end();
    const reader = new Reader(id, contents);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(reader.got.map(({ what }) => what)).toEqual(['begin', 'reset']);
    await reader.end();
  });
});
