/**
 * Checks Reroll's rules against answers recorded from stakater/Reloader.
 *
 * Usage: `npm run -s vectors -- [DIR]`; without DIR, the project's own (libs/core/vectors).
 * Prints each line that differs and then `N agree, M differ`. Exit code 0 if all agree, 1 if some differ, 2 if the
 * folder cannot be read as vectors.
 */
import { join } from 'node:path';

import { readVectors, UnreadableVectors } from './vectors.ts';

const OWN = join(import.meta.dirname, '../../libs/core/vectors');

process.exitCode = check(process.argv.slice(2));

function check(args: readonly string[]): number {
  const [folder = OWN, ...rest] = args;
  if (rest.length > 0) {
    console.error(`expected one folder at most, given ${args.length}`);
    return 2;
  }
  try {
    return report(folder);
  } catch (error) {
    if (!(error instanceof UnreadableVectors)) throw error;
    console.error(error.message);
    return 2;
  }
}

function report(folder: string): number {
  const vectors = readVectors(folder);
  const differing = vectors.filter(({ expected, got }) => expected !== got);
  for (const { file, line, expected, got } of differing) {
    console.log(`${file}:${line}: expected ${expected}, got ${got}`);
  }
  console.log(`${vectors.length - differing.length} agree, ${differing.length} differ`);
  return differing.length === 0 ? 0 : 1;
}
