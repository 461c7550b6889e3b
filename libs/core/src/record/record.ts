import { decodeReloads, encodeReloads, NO_RELOADS, type PastReloads } from '../holds/reload-limit.ts';
import { jsonOf } from '../json.ts';
import { WeightedCache } from '../patterns/weighted-cache.ts';
import { work } from '../work.ts';

/**
 * The applied record: the annotation `reroll.dev/applied` in the workload's own metadata (never in its pod template, so that
 * writing it restarts nothing). It holds hashes of the data that the pods were last started with, as compact JSON:
 * `{"v":1,"s":{"ConfigMap/web":"1.<hash>"}}`. `s` maps `<kind>/<name>` of a source in the workload's namespace to a record hash,
 * sorted by key. `t` is present only if another object holds the pod template: the state of that object by which the record was
 * decided, `<uid>/<generation>`. `r` is present only if reloads are limited: when the last ones were (`encodeReloads`).
 */
export const RECORD_ANNOTATION = 'reroll.dev/applied';

const VERSION = 1;

/**
 * The largest record, in bytes: half of what the API server allows for all annotations of an object, so that the owner has the
 * other half. 1,000 sources with names of 60 characters fit.
 */
export const MOST_RECORD_BYTES = 131_072;

/** The most names in a record. Reroll never writes more, as an entry has at least 23 bytes (`"Secret/a":"0.deleted",`). */
export const MOST_RECORDED = 5_700;

/** Record hash by `<kind>/<name>`, e.g. `{ 'ConfigMap/web': '1.x7…' }`. */
export type RecordedHashes = Readonly<Record<string, string>>;

/** The object that holds a workload's pod template, as read. */
export interface RecordedTemplate {
  readonly uid: string;
  readonly generation: number;
}

export type RecordReading =
  | { readonly state: 'absent' }
  | {
      readonly state: 'read';
      readonly hashes: RecordedHashes;
      readonly template?: string;
      readonly reloads?: string;
    }
  | { readonly state: 'unreadable' };

const NO_HASHES: RecordedHashes = Object.freeze({});

/** Characters of records whose parsed form is cached, so that a record is parsed once for many lookups. */
const CACHE_CHARACTERS = 1024 * 1024;
const ENTRY_CHARACTERS = 100;
/** A record of at most this many characters is parsed faster than it is found in the cache. */
const SHORT = 512;

const cache = new WeightedCache<RecordReading>(CACHE_CHARACTERS, (_, text) => text.length + ENTRY_CHARACTERS);

/**
 * Parses the annotation. Never throws: invalid text is `unreadable` and counts as stripped, as does more than Reroll writes. Anybody who
 * may write to the workload can put it there, and each name costs every watcher and Redis.
 */
export function readRecord(text: string | undefined): RecordReading {
  if (text === undefined) return { state: 'absent' };
  return text.length <= SHORT ? parse(text) : cache.get(text, parse);
}

function parse(text: string): RecordReading {
  if (text.length > MOST_RECORD_BYTES) return { state: 'unreadable' };
  work.recordCharacters += text.length;
  const raw = jsonOf(text);
  if (!isWireRecord(raw)) return { state: 'unreadable' };
  const template = typeof raw.t === 'string' ? { template: raw.t } : {};
  const reloads = typeof raw.r === 'string' ? { reloads: raw.r } : {};
  return { state: 'read', hashes: raw.s, ...template, ...reloads };
}

/** Returns the recorded hashes; empty if there is no readable record. */
export function recordedHashes(text: string | undefined): RecordedHashes {
  const reading = readRecord(text);
  return reading.state === 'read' ? reading.hashes : NO_HASHES;
}

/** Returns the state of the other object by which the record was decided; undefined if the record names none. */
export function recordedTemplate(text: string | undefined): RecordedTemplate | undefined {
  const reading = readRecord(text);
  const { template = '' } = reading.state === 'read' ? reading : {};
  work.recordCharacters += template.length;
  const parts = /^(.+)\/(\d+)$/.exec(template);
  return parts ? { uid: parts[1] ?? '', generation: Number(parts[2]) } : undefined;
}

/** Returns the reloads that a limit counts; none if nothing readable is recorded. `now`: see `decodeReloads`. */
export function recordedReloads(text: string | undefined, now?: number): PastReloads {
  const reading = readRecord(text);
  return reading.state === 'read' ? decodeReloads(reading.reloads, now) : NO_RELOADS;
}

/** Returns the annotation's text. The order of `hashes` does not matter. `reloads`: none are written if there are none. */
export function writeRecord(
  hashes: RecordedHashes,
  template?: RecordedTemplate,
  reloads: PastReloads = NO_RELOADS,
): string {
  const sorted = Object.fromEntries(Object.entries(hashes).sort(([a], [b]) => (a < b ? -1 : 1)));
  const t = template && `${template.uid}/${template.generation}`;
  const r = reloads.times.length === 0 ? undefined : encodeReloads(reloads);
  return JSON.stringify({ v: VERSION, s: sorted, t, r });
}

/** Returns the record with other reloads. Text that cannot be read stays as it is. */
export function recordWithReloads(text: string, reloads: PastReloads): string {
  return readRecord(text).state === 'read'
    ? writeRecord(recordedHashes(text), recordedTemplate(text), reloads)
    : text;
}

/** Whether the text may replace `before`. Text that is not larger always may, even beyond the limit. */
export function isRecordInBounds(text: string, before: string | undefined): boolean {
  const bytes = Buffer.byteLength(text);
  return bytes <= MOST_RECORD_BYTES || bytes <= Buffer.byteLength(before ?? '');
}

/** Returns `<kind>/<name>`, by which a record names a source in its namespace. */
export function recordName(source: { kind: string; name: string }): string {
  return [source.kind, source.name].join('/');
}

interface WireRecord {
  v: number;
  s: Record<string, string>;
  t?: unknown;
  r?: unknown;
}

function isWireRecord(raw: unknown): raw is WireRecord {
  if (typeof raw !== 'object' || raw === null) return false;
  const { v, s } = raw as Partial<Record<'v' | 's', unknown>>;
  return v === VERSION && isHashes(s);
}

function isHashes(raw: unknown): raw is Record<string, string> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return false;
  const hashes = Object.values(raw);
  return hashes.length <= MOST_RECORDED && hashes.every((hash) => typeof hash === 'string');
}
