import { describe, expect, it } from 'vitest';
import type { Access, Caller } from '../auth/caller.ts';
import { anonymousReader } from '../auth/static-tokens.ts';
import type { Places } from '../http/places.ts';
import type { ShownHashes } from '../shown-hashes.ts';
import { EventStream, type EventStreamContext } from './event-stream.ts';
import type { EventWriter } from './event-writer.ts';
import { HistoryContents } from './history-contents.ts';
import type { ReadModel } from './read-model.ts';

/** Nothing is in the history; that there may be more is told at once, three times: then the reader goes. */
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
    places: { seal: (text: string) => text } as unknown as Places,
    caller,
    namespace: undefined,
    writer: { begin: () => Promise.resolve(), beat: () => Promise.resolve() } as unknown as EventWriter,
    signal: gone.signal,
  };
  return new EventStream(context);
}

/** True so often, and then no more. */
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
