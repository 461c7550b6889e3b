import { WeightedCache } from '../patterns/weighted-cache.ts';
import { work } from '../work.ts';

/**
 * The record: the annotation `reroll.dev/applied` on a workload's own metadata (never in its pod template,
 * so that writing it rolls nothing). It says which data the pods of the workload were last rolled with, as
 * compact JSON: `{"v":1,"s":{"ConfigMap/web":"1.<hash>"}}`. `s` maps `<kind>/<name>` of a source in the
 * workload's namespace to a record hash, its keys sorted. `t`, only where the pod template is another object's: the
 * state of that object by which the record was decided, `<uid>/<generation>`.
 */
export const RECORD_ANNOTATION = 'reroll.dev/applied';

const VERSION = 1;

/**
 * Bytes that the text may have: half of what the API server allows for all annotations of an object, so that the other
 * half is the owner's. 1,000 sources with names of 60 characters fit.
 */
export const MOST_RECORD_BYTES = 131_072;

/** Record hash by `<kind>/<name>`, e.g. `{ 'ConfigMap/web': '1.x7…' }`. */
export type RecordedHashes = Readonly<Record<string, string>>;

/** The object that holds a workload's pod template, as it was read. */
export interface RecordedTemplate {
  readonly uid: string;
  readonly generation: number;
}

export type RecordReading =
  | { readonly state: 'absent' }
  | { readonly state: 'read'; readonly hashes: RecordedHashes; readonly template?: string }
  | { readonly state: 'unreadable' };

const NO_HASHES: RecordedHashes = Object.freeze({});

/** Characters of the records that are kept parsed, so that one is parsed once however many names are looked up in it. */
const CACHE_CHARACTERS = 1024 * 1024;
const ENTRY_CHARACTERS = 100;
/** A record of so few characters has a handful of names, and is parsed faster than it is looked up. */
const SHORT = 512;

const cache = new WeightedCache<RecordReading>(CACHE_CHARACTERS, (_, text) => text.length + ENTRY_CHARACTERS);

/** Reads the annotation's text. Never throws: what cannot be read is `unreadable`, and counts as stripped. */
export function readRecord(text: string | undefined): RecordReading {
  if (text === undefined) return { state: 'absent' };
  return text.length <= SHORT ? parse(text) : cache.get(text, parse);
}

function parse(text: string): RecordReading {
  work.recordCharacters += text.length;
  try {
    const raw: unknown = JSON.parse(text);
    if (isWireRecord(raw)) {
      return { state: 'read', hashes: raw.s, ...(typeof raw.t === 'string' ? { template: raw.t } : {}) };
    }
  } catch {
    return { state: 'unreadable' };
  }
  return { state: 'unreadable' };
}

/** The recorded hashes, empty if there is no readable record. */
export function recordedHashes(text: string | undefined): RecordedHashes {
  const reading = readRecord(text);
  return reading.state === 'read' ? reading.hashes : NO_HASHES;
}

/** The state of another object by which the record was decided; undefined if it names none. */
export function recordedTemplate(text: string | undefined): RecordedTemplate | undefined {
  const reading = readRecord(text);
  const parts = reading.state === 'read' ? /^(.+)\/(\d+)$/.exec(reading.template ?? '') : null;
  return parts ? { uid: parts[1] ?? '', generation: Number(parts[2]) } : undefined;
}

/** The annotation's text, the same for the same hashes whatever their order. */
export function writeRecord(hashes: RecordedHashes, template?: RecordedTemplate): string {
  const sorted = Object.fromEntries(Object.entries(hashes).sort(([a], [b]) => (a < b ? -1 : 1)));
  const t = template && `${template.uid}/${template.generation}`;
  return JSON.stringify({ v: VERSION, s: sorted, t });
}

/** Whether the text may take the place of `before`. One that is not larger always may, also beyond the limit. */
export function isRecordInBounds(text: string, before: string | undefined): boolean {
  const bytes = Buffer.byteLength(text);
  return bytes <= MOST_RECORD_BYTES || bytes <= Buffer.byteLength(before ?? '');
}

/** `<kind>/<name>`: how a record names a source of its own namespace. */
export function recordName(source: { kind: string; name: string }): string {
  return [source.kind, source.name].join('/');
}

interface WireRecord {
  v: number;
  s: Record<string, string>;
  t?: unknown;
}

function isWireRecord(raw: unknown): raw is WireRecord {
  if (typeof raw !== 'object' || raw === null) return false;
  const { v, s } = raw as Partial<Record<'v' | 's', unknown>>;
  return v === VERSION && isHashes(s);
}

function isHashes(raw: unknown): raw is Record<string, string> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return false;
  return Object.values(raw).every((hash) => typeof hash === 'string');
}
