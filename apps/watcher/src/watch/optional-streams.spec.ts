import { createLogger } from '@reroll/shared/platform/logging/logging';
import { afterEach, expect, test, vi } from 'vitest';
import { OptionalStream } from './optional-streams.ts';
import { FakeStream } from '../testing/fake-stream.ts';

const running: OptionalStream[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((stream) => stream.stop(100)));
});

/** Asks every millisecond; the spec sets the API server's answer. */
function follow(answer: () => boolean) {
  const isServed = vi.fn<() => Promise<boolean>>(async () => answer());
  const gone = vi.fn<() => Promise<void>>(async () => undefined);
  const opened: FakeStream[] = [];
  const log = createLogger({ format: 'text', level: 'fatal' });
  const open = (): FakeStream[] => {
    opened.push(new FakeStream());
    return opened.slice(-1);
  };
  const stream = new OptionalStream({ isServed, open, gone, interval: 1, log });
  running.push(stream);
  stream.enter('');
  stream.start();
  const askedAgain = async (): Promise<void> => {
    const before = isServed.mock.calls.length;
    await vi.waitFor(() => expect(isServed.mock.calls.length).toBeGreaterThan(before + 1));
  };
  return { stream, gone, opened, askedAgain };
}

function unavailable(): boolean {
  throw new Error('unavailable');
}

test('an API that is not there is no stream, is decided and keeps nobody from being in sync', async () => {
  const { stream, opened, gone, askedAgain } = follow(() => false);
  await askedAgain();
  expect(opened).toEqual([]);
  expect([stream.isUndecided(''), stream.isSynced]).toEqual([false, true]);
  expect(gone).not.toHaveBeenCalled();
});

test('an API server that cannot tell leaves it undecided: nothing of the kind may be taken for gone', async () => {
  const { stream, opened, gone, askedAgain } = follow(unavailable);
  await askedAgain();
  expect([stream.isUndecided(''), stream.isSynced]).toEqual([true, true]);
  expect(opened).toEqual([]);
  expect(gone).not.toHaveBeenCalled();
});

test('an API is undecided until its first list is complete, and counts from then on', async () => {
  const { stream, opened } = follow(() => true);
  await vi.waitFor(() => expect(opened.length).toBe(1));
  expect([stream.isUndecided(''), stream.isSynced]).toEqual([true, true]);
  for (const each of opened) each.synced = true;
  expect([stream.isUndecided(''), stream.isSynced]).toEqual([false, true]);
  for (const each of opened) each.synced = false;
  expect([stream.isUndecided(''), stream.isSynced]).toEqual([false, false]);
});

test('an API that goes takes its streams and its workloads; one that comes back gets new streams', async () => {
  let answer = true;
  const { opened, gone } = follow(() => answer);
  await vi.waitFor(() => expect(opened.length).toBe(1));
  answer = false;
  await vi.waitFor(() => expect(gone).toHaveBeenCalledOnce());
  expect(opened.map(({ isOpen }) => isOpen)).toEqual([false]);
  answer = true;
  await vi.waitFor(() => expect(opened.map(({ isOpen }) => isOpen)).toEqual([false, true]));
});

test('an API server that cannot tell any more changes nothing', async () => {
  let answer = (): boolean => true;
  const { opened, gone, askedAgain } = follow(() => answer());
  await vi.waitFor(() => expect(opened.length).toBe(1));
  answer = unavailable;
  await askedAgain();
  expect(gone).not.toHaveBeenCalled();
  expect(opened.map(({ isOpen }) => isOpen)).toEqual([true]);
});

test('what could not be forgotten is forgotten at the next try', async () => {
  let answer = true;
  const { opened, gone } = follow(() => answer);
  await vi.waitFor(() => expect(opened.length).toBe(1));
  gone.mockRejectedValueOnce(new Error('Redis is away'));
  answer = false;
  await vi.waitFor(() => expect(gone).toHaveBeenCalledTimes(2));
});

test('a namespace that comes gets streams, and nobody waits for them; one that goes loses its own only', async () => {
  const { stream, opened } = follow(() => true);
  await vi.waitFor(() => expect(opened.length).toBe(1));
  for (const each of opened) each.synced = true;
  expect([stream.isUndecided(''), stream.isSynced]).toEqual([false, true]);
  stream.enter('shop');
  expect(opened.map(({ isOpen }) => isOpen)).toEqual([true, true]);
  expect([stream.isUndecided(''), stream.isUndecided('shop'), stream.isSynced]).toEqual([false, true, true]);
  await stream.leave('shop');
  expect(opened.map(({ isOpen }) => isOpen)).toEqual([true, false]);
});

test('a namespace that comes while the API is not there gets its streams with the API', async () => {
  let answer = false;
  const { stream, opened, askedAgain } = follow(() => answer);
  await askedAgain();
  stream.enter('shop');
  expect(opened).toEqual([]);
  answer = true;
  await vi.waitFor(() => expect(opened.map(({ isOpen }) => isOpen)).toEqual([true, true]));
});

test('an API that comes back before it could be forgotten is followed again', async () => {
  let answer = true;
  const { opened, gone } = follow(() => answer);
  await vi.waitFor(() => expect(opened.length).toBe(1));
  gone.mockRejectedValue(new Error('Redis is away'));
  answer = false;
  await vi.waitFor(() => expect(gone).toHaveBeenCalled());
  answer = true;
  await vi.waitFor(() => expect(opened.map(({ isOpen }) => isOpen)).toEqual([false, true]));
});
