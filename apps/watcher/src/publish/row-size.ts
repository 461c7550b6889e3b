import type { WorkloadRow } from '@reroll/core/state/rows';
import type { WorkloadKey } from '@reroll/core/model';
import type { Rows } from './catalog-writer.ts';

type Row = Pick<
  WorkloadRow,
  | 'uses'
  | 'mentions'
  | 'marks'
  | 'dependencies'
  | 'unverified'
  | 'baselines'
  | 'stale'
  | 'annotations'
  | 'podAnnotations'
  | 'record'
>;

interface Size {
  readonly characters: number;
  /** Sources under which the workload is found. */
  readonly indexed: number;
}

/** Of a write, which Redis serves alone. After that, the other rows wait for the next one. Of 250 ordinary rows: 100 KB, and 750. */
const MOST: Size = { characters: 2 * 1024 * 1024, indexed: 5_000 };
/** Of a row that is remembered. Others are too small for 250 of them to fill a write. */
const SMALL: Size = { characters: MOST.characters / 250, indexed: MOST.indexed / 250 };
const NOTHING: Size = { characters: 0, indexed: 0 };

/**
 * The sizes of workloads' rows. Of large rows it remembers what is in the catalog, because replacing or removing such a row takes as long
 * as writing it.
 */
export class RowSizes {
  readonly #written = new Map<WorkloadKey, Size>();

  /** Returns a function that adds up rows, each with the one that it replaces, and returns how much of a write they use: 1 if it is full. */
  used(): (row: Rows['workloads'][number]) => number {
    let characters = 0;
    let indexed = 0;
    return (row) => {
      for (const size of [sizeOf(row), this.#written.get(row[0]) ?? NOTHING]) {
        characters += size.characters;
        indexed += size.indexed;
      }
      return Math.max(characters / MOST.characters, indexed / MOST.indexed);
    };
  }

  wrote(rows: Rows['workloads']): void {
    for (const row of rows) {
      const size = sizeOf(row);
      if (size.characters > SMALL.characters || size.indexed > SMALL.indexed) this.#written.set(row[0], size);
      else this.#written.delete(row[0]);
    }
  }
}

function sizeOf([, value]: Rows['workloads'][number]): Size {
  return value ? { characters: charactersOf(value), indexed: value.index.length } : NOTHING;
}

/** Roughly the characters of a workload's row: those of its names and texts, of which its owner may write a megabyte. */
function charactersOf({ row, index }: { readonly row: Row; readonly index: readonly string[] }): number {
  const { annotations, podAnnotations, baselines, record = '' } = row;
  const names = [row.uses, row.mentions, row.marks, row.dependencies, row.unverified, row.stale, index];
  const texts = [Object.values(annotations), Object.values(podAnnotations), Object.keys(baselines)];
  return [...names, ...texts].reduce((sum, each) => sum + lengthOf(each), record.length);
}

function lengthOf(texts: readonly string[]): number {
  let sum = 0;
  for (const { length } of texts) sum += length;
  return sum;
}
