/**
 * What Redis may hold, given what there has been in the world: docs/scaling.md ("Redis" and "Memory of Redis"), docs/adr/0021 and 0030.
 * Sizes are entries; bytes are those of keys, fields and values.
 */
import { isSourceKey, isWorkloadKey } from '@reroll/core/model';
import type { SimulatedRedis } from '../redis/server.ts';

/** How many of each there have been in the run. */
interface Counts {
  readonly sources: number;
  readonly workloads: number;
  readonly processes: number;
}

/** "The history: 10,000 entries a stream" (docs/scaling.md). */
const HISTORY_ENTRIES = 10_000;
/** "A change takes at most 42 KB of Redis, outcomes included" (docs/scaling.md). */
const CHANGE_BYTES = 42 * 1024;
/** BullMQ keeps about so many events of a queue, trimmed by whole nodes of a hundred. */
const QUEUE_EVENTS = 10_100;
/** Failed jobs that a queue keeps (libs/redis/src/queue/queues.ts). */
const FAILED_JOBS = 1_000;
/** The formula of docs/scaling.md, with less for a workload: those of the simulation have few annotations. */
const BYTES = { source: 220, workload: 620, dependency: 290, job: 1_400 };
/** "A SecretProviderClass takes 140 bytes more, and 60 more for each earlier hash key" (docs/scaling.md). */
const CLASS_BYTES = 140;
const EARLIER_KEY_BYTES = 60;

type Bound = (counts: Counts) => number;
const ONE: Bound = () => 1;
const QUEUE = '(?:changes|reloads|resumes|notifications)';

/** By the name of a key without the install's prefix: how many entries it may have. */
const ENTRIES: readonly (readonly [RegExp, Bound])[] = [
  [/^cluster$/, ONE],
  [/^v1:(writer|shown-hash-key)$/, ONE],
  [/^v1:(readings|warned|announced|idempotency):/, ONE],
  [/^v1:limits$/, () => 10],
  // "One entry for each source that exists, until it is told" and one row for each.
  [/^v1:(sources|before)$/, ({ sources }) => sources],
  [/^v1:(workloads|backing-off|pretended|requests|slots|slot-requests)$/, ({ workloads }) => workloads],
  // And since when they are known.
  [/^v1:rollouts$/, ({ workloads }) => workloads + 1],
  [/^v1:(users|alerts|tallies):/, ({ workloads }) => workloads],
  [/^v1:budget/, ({ workloads }) => 1 + workloads],
  [/^v1:processes$/, ({ processes }) => processes],
  [/^v1:history:/, () => HISTORY_ENTRIES],
  // A number for each namespace, and one of all entries; the ids of a namespace.
  [/^v1:history-shares:[a-z]+$/, ({ sources, workloads }) => sources + workloads + 1],
  [/^v1:history-shares:[a-z]+:/, () => HISTORY_ENTRIES],
  // "One change job for each source"; "at most one job waits for each workload", and one that only records it.
  [/^changes:(wait|prioritized|delayed|active)$/, ({ sources }) => sources],
  [/^(reloads|resumes):(wait|prioritized|delayed|active)$/, ({ workloads }) => 2 * workloads],
  [/^notifications:(wait|prioritized|delayed|active)$/, ({ sources, workloads }) => sources + workloads],
  [new RegExp(`^${QUEUE}:failed$`), () => FAILED_JOBS],
  [new RegExp(`^${QUEUE}:events$`), () => QUEUE_EVENTS],
  [new RegExp(`^${QUEUE}:stalled$`), ({ sources, workloads }) => sources + 2 * workloads],
  [new RegExp(`^${QUEUE}:(id|pc|meta|marker|stalled-check|limiter|de:.*|dn:.*)$`), () => 10],
  // A job, its fields; its lock.
  [new RegExp(`^${QUEUE}:[0-9]+(:lock)?$`), () => 20],
];

/** The jobs that wait. */
const WAITING = ['wait', 'prioritized', 'delayed'] as const;

interface Held {
  /** Without the install's prefix. */
  readonly name: string;
  readonly entries: number;
  readonly bytes: number;
  /** Bytes of these that come on top of what is documented for each entry. */
  readonly onTop: number;
}

export class RedisBounds {
  readonly #redis: SimulatedRedis;
  readonly #sources = new Set<string>();
  readonly #workloads = new Set<string>();
  readonly #processes = new Set<string>();

  constructor(redis: SimulatedRedis) {
    this.#redis = redis;
  }

  /** There is an object: `Kind/namespace/name`. */
  exists(key: string): void {
    if (isSourceKey(key)) this.#sources.add(key);
    else if (isWorkloadKey(key)) this.#workloads.add(key);
  }

  /** There is a process. */
  runs(name: string): void {
    this.#processes.add(name);
  }

  get counts(): Counts {
    return {
      sources: this.#sources.size,
      workloads: this.#workloads.size,
      processes: this.#processes.size,
    };
  }

  /** What is more than the documentation says. */
  exceeded(): string[] {
    const { counts } = this;
    const all = [...this.#redis.each()].map(([key, value]): Held => {
      const name = key.replace(/^\{[^}]*\}:/, '');
      const texts = [...value.texts()];
      const bytes = texts.reduce((sum, text) => sum + text.length, key.length);
      const onTop = name === 'v1:sources' ? texts.reduce((sum, text) => sum + onTopOf(text), 0) : 0;
      return { name, entries: value.size, bytes, onTop };
    });
    const held = all.filter(({ entries }) => entries > 0);
    const tooMany = held.flatMap((each) => tooManyEntries(each, counts));
    return [...tooMany, ...tooManyBytes(held), ...this.#jobsTwice()];
  }

  /** "One change job for each source", "at most one job waits for each workload" (docs/scaling.md). */
  #jobsTwice(): string[] {
    const [prefix = ''] = [...this.#redis.each()].map(([key]) => /^\{[^}]*\}/.exec(key)?.[0] ?? '');
    return ['changes', 'reloads', 'resumes'].flatMap((queue) => {
      const ids = WAITING.flatMap((list) => this.#members(`${prefix}:${queue}:${list}`, list === 'wait'));
      const replies = ids.map((id) => this.#redis.call('HGET', `${prefix}:${queue}:${id}`, 'deid'));
      const about = replies.filter((reply) => typeof reply === 'string');
      const twice = about.filter((each, at) => about.indexOf(each) !== at);
      return twice.map((each) => `two jobs of ${queue} wait for ${each}`);
    });
  }

  #members(key: string, isList: boolean): string[] {
    const reply = isList
      ? this.#redis.call('LRANGE', key, '0', '-1')
      : this.#redis.call('ZRANGE', key, '0', '-1');
    return (reply as unknown[]).map(String);
  }
}

function tooManyEntries({ name, entries }: Held, counts: Counts): string[] {
  const bound = ENTRIES.find(([pattern]) => pattern.test(name))?.[1];
  if (!bound) return [`Redis has ${name}, for which there is no bound`];
  return entries > bound(counts)
    ? [`Redis has ${entries} entries in ${name}, more than ${bound(counts)}`]
    : [];
}

/** Of a row of a source, or 0 for its name: "What the annotations of sources and workloads ... take comes on top" (docs/scaling.md). */
function onTopOf(text: string): number {
  if (!text.startsWith('{')) return 0;
  const { a, k, o = [] } = JSON.parse(text) as { a?: object; k?: string; o?: readonly string[] };
  const ofAnnotations = a === undefined ? 0 : `,"a":${JSON.stringify(a)}`.length;
  // The last of the other hashes is the one without a key, and in the bytes of the class.
  return ofAnnotations + (k === undefined ? 0 : CLASS_BYTES + EARLIER_KEY_BYTES * Math.max(0, o.length - 1));
}

function tooManyBytes(held: readonly Held[]): string[] {
  const of = (pattern: RegExp): { bytes: number; entries: number; onTop: number; keys: number } => {
    const some = held.filter(({ name }) => pattern.test(name));
    const sum = (what: 'bytes' | 'entries' | 'onTop'): number =>
      some.reduce((total, each) => total + each[what], 0);
    return { bytes: sum('bytes'), entries: sum('entries'), onTop: sum('onTop'), keys: some.length };
  };
  const [sources, workloads, users] = [of(/^v1:sources$/), of(/^v1:workloads$/), of(/^v1:users:/)];
  const [jobs, changes] = [of(new RegExp(`^${QUEUE}:[0-9]+$`)), of(/^v1:history:changes$/)];
  const rows = BYTES.workload * workloads.entries + BYTES.dependency * users.entries;
  return [
    moreThan('rows of sources', sources.bytes, BYTES.source * sources.entries + sources.onTop),
    moreThan('rows of workloads and who uses what', workloads.bytes + users.bytes, rows),
    moreThan('jobs', jobs.bytes, BYTES.job * jobs.keys),
    moreThan('changes in the history', changes.bytes, CHANGE_BYTES * changes.entries),
  ].flat();
}

function moreThan(what: string, bytes: number, bound: number): string[] {
  return bytes > bound ? [`Redis has ${bytes} bytes of ${what}, more than ${bound}`] : [];
}
