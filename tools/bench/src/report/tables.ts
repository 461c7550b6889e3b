import { figureRows, show, type FigureRow } from './figures.ts';
import type { ProcessFigures } from '../measure/proc.ts';
import type { RequestCounts } from '../measure/request-counts.ts';
import type { Incumbent } from '../scenarios.ts';
import type { Result } from '../task.ts';

/** A table as cells; the first row is its head. */
export type Table = readonly (readonly string[])[];

/** Figures and targets, requests, processes: those of them that the scenario has. */
export function tablesOf({ scenario, figures, requests, processes, runs }: Result): Table[] {
  const tables = [figureTable(figureRows(figures, scenario.targets), scenario.incumbent)];
  const rolled = runs.at(-1)?.figures.rolled;
  if (rolled !== undefined) tables.push(requestTable(requests, rolled));
  tables.push(processTable(processes, rolled));
  return tables.filter((table) => table.length > 1);
}

function figureTable(rows: readonly FigureRow[], incumbent: Incumbent | undefined): Table {
  const body = rows.map(({ id, label, value, target, met }) => {
    const theirs = incumbent?.[id];
    return [
      label,
      value,
      target,
      verdict(met),
      typeof theirs === 'number' ? show(id, theirs) : (theirs ?? ''),
    ];
  });
  const table = [['', 'measured', 'target', 'met', 'stakater/Reloader'], ...body];
  return incumbent ? table : table.map((row) => row.slice(0, -1));
}

function verdict(met: boolean | undefined): string {
  if (met === undefined) return '';
  return met ? 'yes' : 'NO';
}

function requestTable(requests: RequestCounts, rolled: number): Table {
  const sorted = [...requests].sort(([, a], [, b]) => b - a);
  const body = sorted.map(([pair, count]) => [pair, count.toFixed(0), (count / rolled).toFixed(2)]);
  return [['requests of the reloader', 'all', 'for a reloaded workload'], ...body];
}

function processTable(processes: readonly ProcessFigures[], rolled: number | undefined): Table {
  const head = ['process', 'CPU', 'CPU for a reloaded workload', 'resident', 'peak'];
  const body = processes.map(({ name, cpuSeconds, residentMb, peakMb }) => [
    name,
    `${cpuSeconds.toFixed(2)} s`,
    `${((1000 * cpuSeconds) / (rolled ?? Number.NaN)).toFixed(2)} ms`,
    `${residentMb.toFixed(0)} MB`,
    `${peakMb.toFixed(0)} MB`,
  ]);
  // An idle process is of interest for its memory alone.
  const drop = (row: readonly string[]): readonly string[] =>
    row.filter((_, column) => ![1, 2].includes(column));
  return rolled === undefined ? [head, ...body].map(drop) : [head, ...body];
}

/** With columns of one width, for a terminal. */
export function plainTable(table: Table): string {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => pad(cell, { width: widths[column] ?? 0, column }))
      .join('  ')
      .trimEnd();
  return table.map((row) => `  ${line(row)}\n`).join('');
}

/** Names to the left, numbers to the right. */
function pad(cell: string, at: { width: number; column: number }): string {
  return at.column === 0 ? cell.padEnd(at.width) : cell.padStart(at.width);
}

export function markdownTable(table: Table): string {
  const [head = [], ...body] = table;
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |\n`;
  const rule = `|${head.map((_, column) => (column === 0 ? '---' : '---:')).join('|')}|\n`;
  return line(head) + rule + body.map(line).join('');
}
