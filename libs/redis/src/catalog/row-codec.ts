import { jsonFields } from '@reroll/core/json';
import { DEFAULT_ANNOTATION_LIMITS } from '@reroll/core/annotations/annotation-limits';
import {
  NO_ANNOTATIONS,
  NO_BASELINES,
  NO_NAMES,
  type ProviderClassFacts,
  type SourceRow,
  type WorkloadRow,
} from '@reroll/core/state/rows';
import type { SourceKey } from '@reroll/core/model';
import { RV_UNKNOWN } from '@reroll/core/rv';

/**
 * Rows as stored in Redis: JSON with short names and without defaults. `i` of a workload is for the script that keeps the index:
 * the keys of the sources under which the workload is found.
 */
interface WireSource {
  h: string;
  v: string;
  d: string;
  x?: 0;
  m: number;
  a?: SourceRow['annotations'];
  /** Of a SecretProviderClass: the marker's hash, and the resourceVersion of the annotations. */
  k?: string;
  n?: string;
  /** Of a SecretProviderClass: when its versions were last shown. */
  w?: number | undefined;
  /** Of a SecretProviderClass: the hashes under earlier keys. */
  o?: readonly string[];
  c?: 1;
  r?: 1;
  /** Not watched: lost its labels. */
  u?: 1;
}

interface WireWorkload {
  u: string;
  g: number;
  v: string;
  c: number;
  t: string;
  ra?: number;
  tv: string;
  o?: 0;
  s?: readonly string[];
  n?: readonly string[];
  k?: readonly string[];
  e?: readonly string[];
  q?: readonly string[];
  b?: Readonly<Record<string, string>>;
  l?: readonly string[];
  y?: NonNullable<WorkloadRow['leftAlone']>;
  su?: boolean | undefined;
  ex?: WorkloadRow['excess'];
  a?: WorkloadRow['annotations'];
  p?: WorkloadRow['podAnnotations'];
  r?: string | undefined;
  pe?: number;
  mp?: string | undefined;
  ct?: WorkloadRow['conflict'];
  to?: WorkloadRow['templateOwner'] | undefined;
  i: readonly SourceKey[];
}

export function encodeSource(row: SourceRow): string {
  const wire: WireSource = {
    h: row.hash,
    v: row.rv,
    d: row.dataRv,
    ...(row.exists ? {} : { x: 0 }),
    m: row.modifiedAt,
    ...(isEmpty(row.annotations) ? {} : { a: row.annotations }),
    ...(row.providerClass ? encodeClass(row.providerClass) : {}),
    ...(row.created ? { c: 1 } : {}),
    ...(row.returned ? { r: 1 } : {}),
    ...(row.isUnwatched ? { u: 1 } : {}),
  };
  return JSON.stringify(wire);
}

/** Returns undefined for an invalid row, which counts as missing. */
export function decodeSource(text: string): SourceRow | undefined {
  const wire = parse(text, SOURCE_TEXTS) as WireSource | undefined;
  if (!wire || !areMaps([wire.a]) || (wire.o !== undefined && !isListOfTexts(wire.o))) return undefined;
  return {
    hash: wire.h,
    rv: wire.v,
    dataRv: wire.d,
    exists: wire.x !== 0,
    modifiedAt: wire.m,
    annotations: wire.a ?? NO_ANNOTATIONS,
    ...(wire.k === undefined ? {} : { providerClass: decodeClass(wire.k, wire) }),
    ...(wire.c === undefined ? {} : { created: true }),
    ...(wire.r === undefined ? {} : { returned: true }),
    ...(wire.u === undefined ? {} : { isUnwatched: true }),
  };
}

function encodeClass({ markerHash, rv, shownAt, otherHashes }: ProviderClassFacts): Partial<WireSource> {
  return { k: markerHash, n: rv, w: shownAt, ...(otherHashes ? { o: otherHashes } : {}) };
}

function decodeClass(markerHash: string, { n, w, o }: WireSource): ProviderClassFacts {
  return {
    markerHash,
    rv: n ?? RV_UNKNOWN,
    ...(w === undefined ? {} : { shownAt: w }),
    ...(o === undefined ? {} : { otherHashes: o }),
  };
}

export function encodeWorkload(row: WorkloadRow, index: readonly SourceKey[]): string {
  const wire: WireWorkload = {
    u: row.uid,
    g: row.generation,
    v: row.rv,
    c: row.createdAt,
    t: row.template,
    ...(row.restartAt === undefined ? {} : { ra: row.restartAt }),
    ...(row.leftAlone === undefined ? {} : { y: row.leftAlone }),
    su: row.isSuspended,
    ex: row.excess,
    tv: row.templateRv,
    ...(row.hasContainers ? {} : { o: 0 }),
    ...lists(row),
    ...(isEmpty(row.baselines) ? {} : { b: row.baselines }),
    ...(isEmpty(row.annotations) ? {} : { a: row.annotations }),
    ...(isEmpty(row.podAnnotations) ? {} : { p: row.podAnnotations }),
    ...(row.record === undefined ? {} : { r: row.record }),
    ...(row.resumeAt === undefined ? {} : { pe: row.resumeAt }),
    ...(row.conflict ? { ct: row.conflict } : {}),
    mp: row.places,
    to: row.templateOwner,
    i: index,
  };
  return JSON.stringify(wire);
}

/** Returns undefined for an invalid row, which counts as missing. */
export function decodeWorkload(text: string): WorkloadRow | undefined {
  const wire = parse(text, WORKLOAD_TEXTS) as WireWorkload | undefined;
  if (!wire || !areLists(wire) || !areMaps([wire.b, wire.a, wire.p])) return undefined;
  return {
    uid: wire.u,
    generation: wire.g,
    rv: wire.v,
    createdAt: wire.c,
    template: wire.t,
    ...(wire.ra === undefined ? {} : { restartAt: wire.ra }),
    ...decodeState(wire),
    ...(isExcess(wire.ex) ? { excess: wire.ex } : {}),
    templateRv: wire.tv,
    hasContainers: wire.o !== 0,
    ...decodeLists(wire),
    ...decodeMaps(wire),
    record: wire.r,
    resumeAt: wire.pe,
    ...(wire.ct ? { conflict: wire.ct } : {}),
    ...(typeof wire.mp === 'string' ? { places: wire.mp } : {}),
    ...(wire.to ? { templateOwner: wire.to } : {}),
  };
}

/** What keeps the workload from being reloaded in its present state. */
function decodeState({ y, su }: WireWorkload): Pick<WorkloadRow, 'leftAlone' | 'isSuspended'> {
  return { ...(y === undefined ? {} : { leftAlone: y }), ...(su === true ? { isSuspended: true } : {}) };
}

function isExcess(value: unknown): value is NonNullable<WorkloadRow['excess']> {
  if (typeof value !== 'object' || value === null) return false;
  const { limit, key, most, given } = value as Readonly<Record<string, unknown>>;
  return (
    Object.keys(DEFAULT_ANNOTATION_LIMITS).some((name) => name === limit) &&
    (key === undefined || typeof key === 'string') &&
    typeof most === 'number' &&
    typeof given === 'number'
  );
}

const SOURCE_TEXTS = ['h', 'v', 'd'] as const;
const WORKLOAD_TEXTS = ['u', 'v', 't', 'tv'] as const;

/** Parses an object whose given fields are all text. */
function parse(text: string, texts: readonly string[]): object | undefined {
  const fields = jsonFields(text);
  return texts.every((name) => typeof fields[name] === 'string') ? fields : undefined;
}

function areLists({ s, n, k, e, q, l, to }: WireWorkload): boolean {
  return [s, n, k, e, q, l, to?.sharers].every((list) => list === undefined || isListOfTexts(list));
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function areMaps(maps: readonly unknown[]): boolean {
  return maps.every((map) => map === undefined || isMapOfTexts(map));
}

function isMapOfTexts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every((each) => typeof each === 'string');
}

function lists(row: WorkloadRow): Partial<WireWorkload> {
  return {
    ...(row.uses.length > 0 ? { s: row.uses } : {}),
    ...(row.mentions.length > 0 ? { n: row.mentions } : {}),
    ...(row.marks.length > 0 ? { k: row.marks } : {}),
    ...(row.dependencies.length > 0 ? { e: row.dependencies } : {}),
    ...(row.unverified.length > 0 ? { q: row.unverified } : {}),
    ...(row.stale.length > 0 ? { l: row.stale } : {}),
  };
}

function decodeLists(
  wire: WireWorkload,
): Pick<WorkloadRow, 'uses' | 'mentions' | 'marks' | 'dependencies' | 'unverified' | 'stale'> {
  return {
    uses: wire.s ?? NO_NAMES,
    mentions: wire.n ?? NO_NAMES,
    marks: wire.k ?? NO_NAMES,
    dependencies: wire.e ?? NO_NAMES,
    unverified: wire.q ?? NO_NAMES,
    stale: wire.l ?? NO_NAMES,
  };
}

function decodeMaps(wire: WireWorkload): Pick<WorkloadRow, 'baselines' | 'annotations' | 'podAnnotations'> {
  return {
    baselines: wire.b ?? NO_BASELINES,
    annotations: wire.a ?? NO_ANNOTATIONS,
    podAnnotations: wire.p ?? NO_ANNOTATIONS,
  };
}

function isEmpty(record: Readonly<Record<string, string>>): boolean {
  for (const _ in record) return false;
  return true;
}
