/** A mutant: the product with one rule of its protocol broken. */

export const SIMULATION = 'simulation';

export type Killer =
  /** tools/simulation. */
  | typeof SIMULATION
  /** A part of the full name of a test; the tests of a table have it in their rows. */
  | { readonly spec: string; readonly test: string };

/** A text that occurs once in a file, and what stands in its place. White space in the file may differ. */
export interface Change {
  /** From the root of the repository. */
  readonly file: string;
  readonly text: string;
  readonly replacement: string;
}

export interface Mutant extends Change {
  /** What is wrong with it. */
  readonly name: string;
  readonly killedBy: Killer;
}

/** Mutants of one file. */
export function inFile(file: string, mutants: readonly Omit<Mutant, 'file'>[]): Mutant[] {
  return mutants.map((mutant) => ({ ...mutant, file }));
}

/** The JavaScript that tsc makes of a file of a package. */
export function compiledOf(file: string): string {
  const folder = file.startsWith('apps/') ? 'build' : 'dist';
  return file.replace('/src/', `/${folder}/`).replace(/\.ts$/u, '.js');
}

/** Throws a `RangeError` unless the text occurs exactly once. */
export function mutated(source: string, { file, text, replacement }: Change): string {
  const pattern = new RegExp(text.trim().split(/\s+/u).map(escaped).join('\\s+'), 'gu');
  const found = source.match(pattern)?.length ?? 0;
  if (found !== 1) throw new RangeError(`${file}: expected once, found ${found} times: ${text}`);
  return source.replace(pattern, () => replacement);
}

export function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}
