/**
 * The record: the annotation `reroll.dev/applied` on a workload's own metadata (never in its pod template,
 * so that writing it rolls nothing). It says which data the pods of the workload were last rolled with, as
 * compact JSON: `{"v":1,"s":{"ConfigMap/web":"1.<hash>"}}`. `s` maps `<kind>/<name>` of a source in the
 * workload's namespace to a record hash, its keys sorted.
 */
export const RECORD_ANNOTATION = 'reroll.dev/applied';

const VERSION = 1;

/** Record hash by `<kind>/<name>`, e.g. `{ 'ConfigMap/web': '1.x7…' }`. */
export type RecordedHashes = Readonly<Record<string, string>>;

export type RecordReading =
  | { readonly state: 'absent' }
  | { readonly state: 'read'; readonly hashes: RecordedHashes }
  | { readonly state: 'unreadable' };

const NO_HASHES: RecordedHashes = Object.freeze({});

/** Reads the annotation's text. Never throws: what cannot be read is `unreadable`, and counts as stripped. */
export function readRecord(text: string | undefined): RecordReading {
  if (text === undefined) return { state: 'absent' };
  try {
    const raw: unknown = JSON.parse(text);
    if (isWireRecord(raw)) return { state: 'read', hashes: raw.s };
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

/** The annotation's text, the same for the same hashes whatever their order. */
export function writeRecord(hashes: RecordedHashes): string {
  const sorted = Object.fromEntries(Object.entries(hashes).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify({ v: VERSION, s: sorted });
}

/** `<kind>/<name>`: how a record names a source of its own namespace. */
export function recordName(source: { kind: string; name: string }): string {
  return [source.kind, source.name].join('/');
}

interface WireRecord {
  v: number;
  s: Record<string, string>;
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
