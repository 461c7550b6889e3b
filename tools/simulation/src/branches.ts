/** Which branches of the shipped modules the runs took, and how often, as V8 counts them. */
import { existsSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import type { Profiler } from 'node:inspector';
import { SourceMap } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UNREACHED, type Unreached } from './unreached.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Compiled modules whose branches are counted: folders and files. */
const COUNTED = [
  'apps/worker/build/change/',
  'apps/worker/build/reload/',
  'libs/kube/dist/namespaces/',
  'libs/redis/dist/catalog/wave-reader.js',
];

/** A function, or a part of one that runs only on a condition. */
export interface Branch {
  /** `apps/worker/src/reload/reload-slot.ts`. */
  readonly file: string;
  /** Where it begins, from 1. */
  readonly line: number;
  /** That line, without indentation. */
  readonly text: string;
  readonly count: number;
}

/** Offsets in a compiled module; the end is excluded. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Counts from now on. Begin before the modules are loaded. */
export async function countBranches(): Promise<() => Promise<Branch[]>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result.flatMap(branchesOf);
  };
}

/** A line of a file. */
type Line = Pick<Branch, 'file' | 'text'>;

/** The branches that no run took although one could; and the entries of the list that are not true any more. */
export function complaintsOf(branches: readonly Branch[]): string[] {
  const untaken = branches.filter(({ count }) => count === 0);
  const listed = UNREACHED.flatMap(linesOf);
  const isAmong = (lines: readonly Line[], { file, text }: Line): boolean =>
    lines.some((each) => each.file === file && each.text === text);
  const stale = UNREACHED.filter(({ isRare }) => isRare !== true).flatMap(linesOf);
  return [
    ...untaken
      .filter((each) => !isAmong(listed, each))
      .map(({ file, line, text }) => `no run reached ${file}:${line}: ${text}`),
    ...stale
      .filter((each) => !isAmong(untaken, each))
      .map(({ file, text }) => `reached, or gone, although unreached.ts lists it: ${file}: ${text}`),
    ...listed
      .filter(({ file, text }) => !hasLine(file, text))
      .map(({ file, text }) => `gone, although unreached.ts lists it: ${file}: ${text}`),
  ];
}

function linesOf({ branches }: Unreached): Line[] {
  return Object.entries(branches).flatMap(([file, texts]) => texts.map((text) => ({ file, text })));
}

function hasLine(file: string, text: string): boolean {
  const path = join(ROOT, file);
  if (!existsSync(path)) return false;
  return readFileSync(path, 'utf8')
    .split('\n')
    .some((line) => line.trim() === text);
}

function branchesOf({ url, functions }: Profiler.ScriptCoverage): Branch[] {
  if (!url.startsWith('file:')) return [];
  const path = fileURLToPath(url);
  if (!COUNTED.some((counted) => relative(ROOT, path).startsWith(counted))) return [];
  const sourceAt = sourcesOf(path);
  return outermost(functions.flatMap(spansOf)).flatMap(({ from, count }) => {
    const place = sourceAt(from);
    return place ? [{ ...place, count }] : [];
  });
}

function spansOf({ ranges }: Profiler.FunctionCoverage): Span[] {
  return ranges.map(({ startOffset, endOffset, count }) => ({ from: startOffset, to: endOffset, count }));
}

/** Without what is inside of something that never ran. */
function outermost(spans: readonly Span[]): Span[] {
  const untaken = spans.filter(({ count }) => count === 0);
  const isInside = (one: Span): boolean =>
    untaken.some(
      (other) =>
        other !== one &&
        other.from <= one.from &&
        one.to <= other.to &&
        !(other.from === one.from && other.to === one.to),
    );
  return spans.filter((span) => !isInside(span));
}

type Place = Omit<Branch, 'count'>;

/** Where in its source an offset of a compiled module is. Undefined for what the compiler added. */
function sourcesOf(path: string): (offset: number) => Place | undefined {
  const lines = readFileSync(path, 'utf8').split('\n');
  const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')));
  const texts = new Map<string, string[]>();
  return (offset) => {
    const entry = map.findEntry(...positionOf(lines, offset));
    if (!('originalSource' in entry)) return undefined;
    const file = join(dirname(path), entry.originalSource);
    if (!texts.has(file)) texts.set(file, readFileSync(file, 'utf8').split('\n'));
    const text = texts.get(file)?.[entry.originalLine]?.trim() ?? '';
    return { file: relative(ROOT, file), line: entry.originalLine + 1, text };
  };
}

/** Line and column, from 0. */
function positionOf(lines: readonly string[], offset: number): [number, number] {
  let left = offset;
  for (const [line, { length }] of lines.entries()) {
    if (left <= length) return [line, left];
    left -= length + 1;
  }
  return [lines.length, 0];
}
