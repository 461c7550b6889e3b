import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { z } from 'zod';

import type { Compare, Comparison } from './comparisons.ts';
import { COMPARISONS } from './comparisons.ts';

/** One line of a file of vectors, compared. */
export interface Vector extends Comparison {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
}

/** A folder or a line that cannot be read as vectors: nothing can be said about agreement. */
export class UnreadableVectors extends Error {
  override readonly name = 'UnreadableVectors';
}

/** Every line of every file of vectors in a folder. Throws `UnreadableVectors` if there is anything else. */
export function readVectors(folder: string): Vector[] {
  const vectors = filesOf(folder).flatMap(([file, compare]) => linesOf(folder, file, compare));
  if (vectors.length === 0) throw new UnreadableVectors(`${folder}: expected vectors, found no line of any`);
  return vectors;
}

/** The files to read. A text about them may stand beside them; any other file may be a mistyped name. */
function filesOf(folder: string): [string, Compare][] {
  const files = listing(folder).filter((file) => !file.endsWith('.md'));
  const known = `expected only ${Object.keys(COMPARISONS).join(', ')}`;
  if (files.length === 0) throw new UnreadableVectors(`${folder}: ${known}, found none`);
  return files.sort().map((file) => {
    const compare = Object.hasOwn(COMPARISONS, file) ? COMPARISONS[file] : undefined;
    if (!compare) throw new UnreadableVectors(`${folder}: ${known}, found ${file}`);
    return [file, compare];
  });
}

function linesOf(folder: string, file: string, compare: Compare): Vector[] {
  const text = reading(file, () => readFileSync(join(folder, file), 'utf8'));
  const lines = text === '' ? [] : text.replace(/\r?\n$/, '').split('\n');
  return lines.map((content, index) => {
    const line = index + 1;
    return { file, line, ...compareLine(`${file}:${line}`, content, compare) };
  });
}

/** Not an unreadable line but our own fault: an error of the code that is compared. It is not caught. */
function compareLine(where: string, content: string, compare: Compare): Comparison {
  const parsed: unknown = reading(where, () => JSON.parse(content));
  try {
    return compare(parsed);
  } catch (cause) {
    if (!(cause instanceof z.ZodError)) throw cause;
    throw new UnreadableVectors(`${where}: ${z.prettifyError(cause)}`, { cause });
  }
}

function listing(folder: string): string[] {
  return reading(folder, () => readdirSync(folder));
}

/** Runs a reader, and says where it failed and at what. */
function reading<Result>(where: string, read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new UnreadableVectors(`${where}: ${message}`, { cause });
  }
}
