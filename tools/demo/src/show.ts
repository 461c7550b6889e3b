import type { Performance, Row } from './act.ts';
import { CONFIG_MAP, SECRET, WORKLOADS, shortNameOf, type Workload } from './shop.ts';
import { printTable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** What every annotation key of stakater/Reloader has in it; the tables have no room for it. */
const DOMAIN = 'reloader.stakater.com';

export function showShop(terminal: Terminal): void {
  terminal.heading(`The shop: ConfigMap ${CONFIG_MAP}, Secret ${SECRET}, and who uses them`);
  printTable<Workload>(
    terminal,
    [
      { title: 'workload', cell: shortNameOf },
      { title: 'pods', align: 'right', cell: ({ pods }) => String(pods) },
      { title: 'uses', cell: ({ uses }) => uses },
      { title: 'annotations', cell: ({ annotations }) => annotationText(annotations) },
    ],
    WORKLOADS,
  );
  terminal.line(terminal.style('dim', `  (… stands for ${DOMAIN}, here and below)`));
  terminal.line();
}

/** What came of a change, a line for each workload that it concerns. */
export function showPerformance(terminal: Terminal, { rows, failures }: Performance): void {
  const concerned = rows.filter(({ result }) => result !== 'not concerned');
  const others = rows.filter(({ result }) => result === 'not concerned');
  printTable<Row>(
    terminal,
    [
      { title: 'workload', cell: ({ workload }) => shortNameOf(workload) },
      {
        title: 'result',
        cell: ({ result }) => result,
        color: ({ result }) => (result === 'reloaded' ? 'green' : 'yellow'),
      },
      { title: 'patched', align: 'right', cell: ({ patched }) => milliseconds(patched) },
      { title: 'pods new', align: 'right', cell: ({ replaced }) => milliseconds(replaced) },
      { title: 'reason', cell: ({ reason }) => reason },
      { title: 'because', cell: becauseOf },
    ],
    concerned,
  );
  const names = others.map(({ workload }) => shortNameOf(workload)).join(', ');
  if (others.length > 0) terminal.line(terminal.style('dim', `  not concerned: ${names}`));
  for (const failure of failures) terminal.line(terminal.style('red', `  UNEXPECTED: ${failure}`));
}

export function showSummary(terminal: Terminal, of: Pick<Play, 'performances' | 'failures'>): void {
  const { performances, failures } = of;
  const rows = performances.flatMap((each) => each.rows);
  const expected = performances.reduce((sum, each) => sum + each.expected, 0);
  const seen = performances.reduce((sum, each) => sum + each.rollouts, 0);
  const alone = rows.filter(({ result }) => result === 'left alone').length;
  terminal.heading('Summary');
  terminal.line(`  rollouts expected ${expected}, seen ${seen}; left alone, each with its reason: ${alone}`);
  for (const failure of failures) terminal.line(`  unexpected: ${failure}`);
  const result =
    failures.length === 0
      ? terminal.style(
          'green',
          'Everything happened as expected: nothing was missed, nothing was reloaded twice',
        )
      : terminal.style('red', `FAILED: ${failures.length} times something was not as expected`);
  terminal.line(`  ${result}. ${terminal.elapsedSeconds} s`);
}

/** What `play` gives. */
export interface Play {
  readonly performances: readonly Performance[];
  readonly failures: readonly string[];
}

export function milliseconds(value: number | undefined): string {
  return value === undefined ? '-' : `${Math.round(value)} ms`;
}

function becauseOf({ sources, detail }: Row): string {
  const text = shortened(detail);
  return sources.length > 1 ? `${text}; one patch for both` : text;
}

function annotationText(annotations: Readonly<Record<string, string>>): string {
  const each = Object.entries(annotations).map(([key, value]) => `${key}: "${value}"`);
  return shortened(each.join(', ')) || '(none)';
}

function shortened(text: string): string {
  return text.replaceAll(DOMAIN, '…');
}
