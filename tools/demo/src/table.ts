import type { Terminal } from './terminal.ts';

export interface Column<Row> {
  readonly title: string;
  /** Default left. */
  readonly align?: 'left' | 'right';
  readonly cell: (row: Row) => string;
  readonly color?: (row: Row) => 'green' | 'yellow';
}

const INDENT = '  ';
const GAP = '  ';

/** Prints rows under their titles. On a terminal that is too narrow the last column goes below each row. */
export function printTable<Row>(
  terminal: Terminal,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  const widths = columns.map(({ title, cell }) =>
    Math.max(title.length, ...rows.map((row) => cell(row).length)),
  );
  const total = widths.reduce((sum, width) => sum + GAP.length + width, 0);
  const isStacked = total > (terminal.columns ?? Number.POSITIVE_INFINITY);
  const beside = isStacked ? columns.slice(0, -1) : columns;
  const titles = beside.map((column, index) => placed(column.title, widths[index], column));
  terminal.line(terminal.style('dim', INDENT + titles.join(GAP).trimEnd()));
  for (const row of rows) {
    const cells = beside.map((column, index) => {
      const text = placed(column.cell(row), widths[index], column);
      return column.color ? terminal.style(column.color(row), text) : text;
    });
    terminal.line(INDENT + cells.join(GAP).trimEnd());
    const below = isStacked ? columns.at(-1)?.cell(row) : undefined;
    if (below !== undefined) terminal.line(INDENT.repeat(3) + terminal.style('dim', below));
  }
}

function placed(text: string, width = 0, { align }: Pick<Column<never>, 'align'>): string {
  return align === 'right' ? text.padStart(width) : text.padEnd(width);
}
