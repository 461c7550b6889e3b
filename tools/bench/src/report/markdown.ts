import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { machineText } from '../measure/machine.ts';
import { subjectOf } from '../reloader.ts';
import { type Report, subjectName, subjectText } from './report.ts';
import { markdownTable, tablesOf } from './tables.ts';
import { INCUMBENT } from '../scenarios.ts';
import type { Result } from '../task.ts';
import { titleOf } from './title.ts';

/**
 * Writes the tables of a report into a page: each scenario between the markers `<!-- bench begin: NAME -->`
 * and `<!-- bench end: NAME -->`, NAME being `reroll/hundred` or, for another reloader, `other/hundred`.
 * The rest of the page stays as it is; what has no markers yet is added at the end.
 */
export function writeMarkdown(file: string, report: Report): void {
  for (const result of report.results) {
    const name = `${subjectName(report.options.subject)}/${result.scenario.name}`;
    writeBlock(file, name, blockOf(report, result));
  }
}

/** Writes one block; without a file, nothing. */
export function writeBlock(file: string | undefined, name: string, text: string): void {
  if (file === undefined) return;
  writeFileSync(file, replaceBlock(existsSync(file) ? readFileSync(file, 'utf8') : '', name, text));
}

/** The page with the text between the markers of that name; they are appended when they are missing. */
export function replaceBlock(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- bench begin: ${name} -->`, `<!-- bench end: ${name} -->`];
  const block = `${begin}\n${text.trim()}\n${end}`;
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) return `${page === '' ? '' : `${page.trimEnd()}\n\n`}${block}\n`;
  return page.slice(0, from) + block + page.slice(to + end.length);
}

/** Each table says where it comes from: they need not be of one invocation. */
function blockOf(report: Report, result: Result): string {
  const { machine, kubernetes, options, startedAt } = report;
  const runs = options.repeat === 1 ? '' : ` Median of ${options.repeat} runs.`;
  return [
    `**${titleOf(result.scenario)}**`,
    ...tablesOf(result).map((table) => markdownTable(table).trimEnd()),
    `${subjectText(subjectOf(options.subject, result.scenario))}. ${startedAt.slice(0, 10)}, ${machineText(machine)}, Kubernetes ${kubernetes}.${runs}`,
    ...(result.scenario.incumbent ? [INCUMBENT] : []),
  ].join('\n\n');
}
