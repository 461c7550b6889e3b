/** What goes wrong between the processes, the API server and Redis. */
import type { SimulatedApiOptions } from './api/simulated-api.ts';
import type { ReceiverBy } from './receiver.ts';
import type { SimulatedRedisOptions } from './redis/server.ts';
import type { Events } from './scheduler.ts';

type Treatment = ReturnType<NonNullable<SimulatedApiOptions['treat']>>;
type Delivery = ReturnType<NonNullable<SimulatedRedisOptions['onRequest']>>;

const API_FATES = [
  'cutBefore',
  'cutAfter',
  'refused',
  'unansweredBefore',
  'unansweredAfter',
  { answered: 409 },
  { answered: 429, retryAfterSeconds: 1 },
  { answered: 500 },
  { answered: 503 },
  { answered: 504 },
] as const;
/** How often a request fails while the API server is faulty. */
const API_FAILS = 0.3;
/** The longest back-off of a watch after an outage of the API server. */
export const RECONNECTED = 10_000;
/** After so long a client gives up a request that nobody answers. */
const GIVEN_UP = 30_000;
const REDIS_FATES = ['lostRequest', 'lostReply', 'lostReply', 'cut'] as const;
const REDIS_FAILS = 0.08;

const POST_FATES = ['refused', 'failed', 'lost', 'unanswered'] as const;
const POST_FAILS = 0.5;

export type Trouble = 'faultyReceiver' | 'slowApi' | 'faultyApi' | 'slowRedis' | 'faultyRedis';

/** Times are in virtual milliseconds. What happened is counted in `seen`. */
export class Faults {
  readonly seen = new Map<string, number>();
  readonly #events: Events;
  readonly #until = new Map<Trouble, number>();
  /** When requests to the API server began to fail or to be late, and when that ends. */
  #apiTrouble = { from: -Infinity, to: -Infinity };
  /** The resource whose requests are refused, and until when. */
  #refused = { plural: '', to: -Infinity };
  /** By kind. */
  readonly #expiredAt = new Map<string, number>();
  /** When the last request that nobody answers is given up. */
  #givenUpAt = -Infinity;

  constructor(events: Events) {
    this.#events = events;
  }

  begin(trouble: Trouble, time: number): void {
    if (trouble === 'slowApi' || trouble === 'faultyApi') this.troubleApi(time);
    this.#until.set(trouble, Math.max(this.#until.get(trouble) ?? 0, this.#events.now() + time));
  }

  end(): void {
    this.#until.clear();
    this.#refused.to = -Infinity;
    this.#apiTrouble.to = Math.min(this.#apiTrouble.to, this.#events.now());
  }

  /** Requests to the API server may fail or be late for so long. */
  troubleApi(time: number): void {
    const now = this.#events.now();
    if (this.#wellFrom() < now) this.#apiTrouble.from = now;
    this.#apiTrouble.to = Math.max(this.#apiTrouble.to, now + time);
  }

  isApiQuietSince(time: number): boolean {
    return this.#troubledUntil() < time;
  }

  /** Up to when every watch has shown what was written. */
  watchedUntil(): number {
    const now = this.#events.now();
    return this.#wellFrom() < now ? now : this.#apiTrouble.from;
  }

  #troubledUntil(): number {
    return Math.max(this.#apiTrouble.to, this.#givenUpAt);
  }

  /** When every watch is there again. */
  #wellFrom(): number {
    return this.#troubledUntil() + RECONNECTED;
  }

  /** Refuses requests for a resource, whose watches have ended and cannot be resumed, for so many virtual milliseconds. */
  refuse({ kind, plural }: { kind: string; plural: string }, time: number): void {
    this.troubleApi(time);
    this.#refused = { plural, to: this.#events.now() + time };
    this.#expiredAt.set(kind, this.#events.now());
  }

  /** Whether the watches of the kind ended, and could not be resumed, since requests to the API server last began to fail. */
  isListedAgain(kind: string): boolean {
    return (this.#expiredAt.get(kind) ?? -Infinity) >= this.#apiTrouble.from;
  }

  /** `path`: undefined for a request that is never refused, as those of the world. */
  treatRequest(path?: string): Treatment {
    const scale = this.#is('slowApi') ? 300 : 1;
    const [before, after] = [this.#latency(scale), this.#latency(scale)];
    if (this.#isRefused(path)) return { before, after, fate: { answered: 429, retryAfterSeconds: 1 } };
    if (!this.#is('faultyApi') || this.#events.random() >= API_FAILS) return { before, after, fate: 'done' };
    const fate = this.#pick(API_FATES);
    this.count(typeof fate === 'string' ? `api ${fate}` : `api ${fate.answered}`);
    if (fate === 'unansweredBefore' || fate === 'unansweredAfter')
      this.#givenUpAt = this.#events.now() + GIVEN_UP;
    return { before, after, fate };
  }

  #isRefused(path: string | undefined): boolean {
    const { plural, to } = this.#refused;
    return to > this.#events.now() && path?.split('/').includes(plural) === true;
  }

  /** A watch now and then lags behind the others. */
  eventLatency(): number {
    if (this.#is('slowApi')) return this.#latency(1_000);
    return this.#events.random() < 0.02 ? this.#latency(300) : this.#latency(2);
  }

  deliver(): Delivery {
    const scale = this.#is('slowRedis') ? 100 : 0.3;
    const [before, after] = [this.#latency(scale), this.#latency(scale)];
    if (!this.#is('faultyRedis') || this.#events.random() >= REDIS_FAILS)
      return { before, after, fate: 'ok' };
    const fate = this.#pick(REDIS_FATES);
    this.count(`redis ${fate}`);
    return { before, after, fate };
  }

  treatPost(): ReturnType<ReceiverBy['treat']> {
    const [before, after] = [this.#latency(3), this.#latency(3)];
    if (!this.#is('faultyReceiver') || this.#events.random() >= POST_FAILS)
      return { before, after, fate: 'done' };
    const fate = this.#pick(POST_FATES);
    this.count(`post ${fate}`);
    return { before, after, fate };
  }

  #is(trouble: Trouble): boolean {
    return (this.#until.get(trouble) ?? 0) > this.#events.now();
  }

  #latency(scale: number): number {
    return scale * (0.5 + 4 * this.#events.random());
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#events.random() * items.length)] as T;
  }

  count(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }
}
