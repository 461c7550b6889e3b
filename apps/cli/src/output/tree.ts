import type { Paint } from './color.ts';
import { toneCell, widthOf, type Cell } from './table.ts';

export interface Branch {
  readonly name: string;
  /** Those of the branches beside it begin in the same column. */
  readonly cell?: Cell;
  readonly below?: readonly Branch[];
}

/** Draws branches under a line that was printed before, as `tree` does. All text is made safe for a terminal. */
export function tree(branches: readonly Branch[], paint: Paint, indent = ''): string {
  const named = branches.map((branch) => ({ ...branch, label: toneCell(branch.name) }));
  const width = Math.max(0, ...named.map(({ label, cell }) => (cell === undefined ? 0 : widthOf(label))));
  const lines = named.map(({ label, cell, below = [] }, index) => {
    const isLast = index === named.length - 1;
    const padding = ' '.repeat(Math.max(0, width - widthOf(label)) + GAP);
    const value = cell === undefined ? undefined : toneCell(cell);
    const text = value === undefined ? label.text : label.text + padding + paint(value.text, value.tone);
    const line = `${indent}${isLast ? '└─' : '├─'} ${text}\n`;
    return line + tree(below, paint, indent + (isLast ? '   ' : '│  '));
  });
  return lines.join('');
}

/** Blanks between a name and its cell, as between the columns of a table. */
const GAP = 3;
