import { batch, computed, effect, signal } from '@preact/signals';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { EVENTS, EventName } from '@reroll/shared/api/events';
import { CallError, openEvents } from '../api/client.ts';
import { Deadline } from '../deadline.ts';
import { isShownIn, sentenceOf } from '../news.ts';
import { Pace } from '../pace.ts';
import { announceNews } from './announcer.ts';
import { route } from '../router.ts';
import { calmFor } from './calm.ts';
import { connection } from './connection.ts';
import { token } from './session.ts';
import { status } from './status.ts';

type Output<Schema> = Schema extends { parse(given: unknown): infer Value } ? Value : never;
export type LiveEvent = {
  readonly [Name in EventName]: { readonly name: Name; readonly data: Output<(typeof EVENTS)[Name]> };
}[EventName];
export type FeedEntry = LiveEvent & { readonly key: number; readonly cameAt: Date };

const FEED_LENGTH = 100;
/** A heartbeat comes every 15 s: a stream that is silent for longer has gone. */
const SILENCE = 45_000;
const SHORTEST_WAIT = 1_000;
const LONGEST_WAIT = 30_000;
const NEWS = { soon: 1_000, every: 5_000 };
const SLOW_NEWS = { soon: 1_000, every: 10_000 };
const PULSE_EVERY = 10_000;

/** What has come since the page was opened, newest first. */
export const feed = signal<readonly FeedEntry[]>([]);
/** `refused`: the reader may not follow it, so it is not tried again. */
export const liveState = signal<'connecting' | 'live' | 'lost' | 'refused'>('connecting');
/** Rises, at most every five seconds, when something has happened that lists may show. */
export const news = signal(0);
/** The same, at most every ten seconds, for what takes many requests. */
export const slowNews = signal(0);
/** Rises when the reader has done something. */
export const deeds = signal(0);
/** Rises every ten seconds while the page is visible, for what no event tells (queues, processes). */
export const pulse = signal(0);

/** Whether the API has told who the reader is. */
const isKnown = computed(() => status.value !== undefined);

const newsPace = new Pace(() => void (news.value += 1), NEWS);
const slowPace = new Pace(() => void (slowNews.value += 1), SLOW_NEWS);

let keys = 0;
let last: string | undefined;

/** Follows the stream for as long as the page is open, once `/status` has been answered for the token. */
export function followEvents(): void {
  effect(() => {
    // Another token, another reader.
    void token.value;
    if (!isKnown.value) return undefined;
    const controller = new AbortController();
    feed.value = [];
    liveState.value = 'connecting';
    last = undefined;
    void follow(controller.signal);
    return () => controller.abort();
  });
  addEventListener('offline', () => connection.failed());
  addEventListener('online', () => void (pulse.value += 1));
  setInterval(() => {
    if (document.visibilityState !== 'visible') return;
    pulse.value += 1;
    // No stream tells what lists may show.
    if (liveState.peek() !== 'live') tellNews();
  }, PULSE_EVERY);
}

async function follow(signal: AbortSignal): Promise<void> {
  let wait = SHORTEST_WAIT;
  while (!signal.aborted) {
    liveState.value = liveState.peek() === 'lost' ? 'lost' : 'connecting';
    const outcome = await listen(signal);
    if (outcome === 'heard') wait = SHORTEST_WAIT;
    if (signal.aborted) return;
    liveState.value = outcome === 'refused' ? 'refused' : 'lost';
    if (outcome === 'refused') return;
    await pause(Math.max(calmFor(), wait * (0.5 + Math.random() / 2)), signal);
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }
}

/** One connection, until it ends. `refused`: no use to try again with this token. */
async function listen(signal: AbortSignal): Promise<'heard' | 'failed' | 'refused'> {
  const silence = new Deadline(SILENCE, signal);
  try {
    const response = await openEvents(last, silence.signal);
    silence.extend();
    if (liveState.peek() === 'lost') tellNews();
    liveState.value = 'live';
    const parser = createParser({ onEvent: take, onId: keepPosition });
    const decoder = new TextDecoder();
    for await (const chunk of chunksOf(response)) {
      silence.extend();
      parser.feed(decoder.decode(chunk, { stream: true }));
    }
    return 'heard';
  } catch (error) {
    if (silence.isOver) connection.silentSince(silence.since);
    return error instanceof CallError && [401, 403].includes(error.status) ? 'refused' : 'failed';
  } finally {
    silence.end();
  }
}

/** A reader instead of `for await` over the body: Safari has no iterator of streams. */
async function* chunksOf(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Of heartbeats too: they tell how far the server has read, even if nothing happens. */
function keepPosition(id: string): void {
  if (id !== '') last = id;
}

function take({ event, data }: EventSourceMessage): void {
  tellNews();
  const entry = { name: event, data: JSON.parse(data) as unknown } as LiveEvent;
  const sentence = sentenceOf(entry);
  if (sentence === undefined) return;
  keys += 1;
  feed.value = [{ ...entry, key: keys, cameAt: new Date() }, ...feed.peek()].slice(0, FEED_LENGTH);
  if (isShownIn(route.peek().namespace, entry)) announceNews(sentence);
}

function tellNews(): void {
  newsPace.tell();
  slowPace.tell();
}

/** The reader has done something: whatever shows it is asked for at once. */
export function tellDeed(): void {
  batch(() => {
    for (const each of [deeds, news, slowNews]) each.value += 1;
  });
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
