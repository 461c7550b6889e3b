import type { Paint, Tone } from './color.ts';
import { safeText } from './safe-text.ts';

/** A cell with a meaning besides its text. */
interface ToneCell {
  readonly text: string;
  readonly tone: Tone | undefined;
}
export type Cell = string | ToneCell;

export interface Column<Row> {
  /** In capitals, as in kubectl. */
  readonly title: string;
  readonly cell: (row: Row) => Cell;
  /** Only with `-o wide`. */
  readonly wide?: boolean;
}

/** What people see as one character. */
const SEGMENTS = new Intl.Segmenter();

/** The gap between two columns, as in kubectl. */
const GAP = '   ';

/**
 * Formats a table as kubectl does: a line of titles, columns aligned left, no borders, no trailing blanks. Empty cells
 * read `<none>`. All text is made safe for a terminal.
 */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  options: { readonly paint: Paint; readonly wide?: boolean; readonly titles?: boolean },
): string {
  const shown = columns.filter(({ wide }) => wide !== true || options.wide === true);
  const titles = options.titles === false ? [] : [shown.map(({ title }) => plain(title))];
  const lines = [...titles, ...rows.map((row) => shown.map(({ cell }) => toneCell(cell(row))))];
  const widths = shown.map((_, index) => Math.max(...lines.map((line) => widthOf(line[index]))));
  return lines.map((line) => `${lineText(line, widths, options.paint)}\n`).join('');
}

/** `name:   value` lines, the values under each other. */
export function facts(pairs: readonly (readonly [name: string, value: Cell])[], paint: Paint): string {
  const rows = pairs.map(([name, value]) => [plain(`${name}:`), toneCell(value)]);
  const width = Math.max(...rows.map(([name]) => widthOf(name)));
  return rows.map((row) => `${lineText(row, [width, 0], paint)}\n`).join('');
}

export function toned(text: string, tone: Tone | undefined): ToneCell {
  return { text, tone };
}

function plain(text: string): ToneCell {
  return { text, tone: undefined };
}

export function toneCell(cell: Cell): ToneCell {
  const { text, tone } = typeof cell === 'string' ? plain(cell) : cell;
  const safe = safeText(text);
  return { text: safe === '' ? '<none>' : safe, tone };
}

export function widthOf(cell: ToneCell | undefined): number {
  return Array.from(SEGMENTS.segment(cell?.text ?? '')).length;
}

function lineText(line: readonly ToneCell[], widths: readonly number[], paint: Paint): string {
  const last = line.length - 1;
  const cells = line.map((cell, index) => {
    const padding = index === last ? '' : ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cell)));
    return paint(cell.text, cell.tone) + padding;
  });
  return cells.join(GAP);
}
