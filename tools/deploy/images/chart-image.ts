import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the chart. */
export const CHART = join(import.meta.dirname, '../../../deploy/helm/reroll');

/** By which name the chart knows its image: `reroll`, or `redis`. */
export function chartImage(name: string): string {
  const listed = readFileSync(join(CHART, 'images.txt'), 'utf8').split('\n');
  const found = listed.find((image) => image.includes(`/${name}:`));
  if (found === undefined) throw new Error(`expected images.txt to have an image of ${name}`);
  return found;
}
