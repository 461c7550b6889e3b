import { machineText } from '../measure/machine.ts';
import { type Report, subjectText } from './report.ts';
import { plainTable, tablesOf } from './tables.ts';
import { titleOf } from './title.ts';

/** What goes to standard output. */
export function reportText(report: Report): string {
  const head = `${machineText(report.machine)}, Kubernetes ${report.kubernetes}\n${subjectText(report.options.subject)}\n`;
  const sections = report.results.map(
    (result) =>
      `\n${result.scenario.name}: ${titleOf(result.scenario)}\n\n${tablesOf(result).map(plainTable).join('\n')}`,
  );
  return head + sections.join('');
}
