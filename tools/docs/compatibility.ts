/** Reads `docs/compatibility.md`: its rows, and the specs that they name. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** Beginning of a path that is below `src` of a package in libs. */
const PACKAGE = /^(core|kube|nest|redis|shared)\//u;
/** A test that is left out, or that keeps others from running: a file with one shows nothing. */
const NOT_RUN =
  /\b(?:it|test|describe|suite)(?:\.\w+)*\.(?:skip|todo|only|fails|skipIf|runIf)\b|\bx(?:it|describe)\(|\b(?:skip|todo|only|fails): true/u;
const VERDICTS = ['same', 'better', 'different', 'not yet'] as const;

export interface Row {
  /** Of the page, from 1. */
  readonly line: number;
  readonly behavior: string;
  readonly verdict: string;
  readonly specs: readonly string[];
}

/** Rows of every table with the three columns behavior, Reroll, spec. */
export function rowsOf(page: string): Row[] {
  const rows: Row[] = [];
  let isTable = false;
  for (const [index, text] of page.split('\n').entries()) {
    const cells = cellsOf(text);
    if (cells[2] === 'Spec') isTable = true;
    else if (!text.startsWith('|')) isTable = false;
    else if (isTable && !text.startsWith('|---')) rows.push(row(index + 1, cells));
  }
  return rows;
}

/** What is wrong with a row, in words; undefined if nothing is. */
export function complaintAbout({ behavior, verdict, specs }: Row): string | undefined {
  const word = VERDICTS.find((each) => verdict.startsWith(each));
  if (behavior === '' || word === undefined) {
    return `expected a behavior and one of ${VERDICTS.join(', ')}; given ${JSON.stringify(verdict)}`;
  }
  if ((word === 'better' || word === 'different') && !/^\w+: ./u.test(verdict)) {
    return `expected how it is ${word}, after a colon; given ${JSON.stringify(verdict)}`;
  }
  if ((word === 'same' || word === 'better') && specs.length === 0) return 'expected a spec; given none';
  return specs.map(complaintAboutSpec).find((complaint) => complaint !== undefined);
}

/** `path/of.spec.ts` > title: the file is there, runs all its tests, and has a text in quotes that is the title. */
export function complaintAboutSpec(spec: string): string | undefined {
  const { path = '', title = '' } = /^`(?<path>[^`]+\.spec\.ts)` > (?<title>.+)$/u.exec(spec)?.groups ?? {};
  const file = join(ROOT, path.replace(PACKAGE, 'libs/$1/src/'));
  if (path === '' || !existsSync(file)) return `expected the path of a spec; given ${spec}`;
  const complaint = complaintAboutTitle(readFileSync(file, 'utf8'), title);
  return complaint === undefined ? undefined : `${complaint} of ${path}; given ${JSON.stringify(title)}`;
}

/** What keeps the title from being that of a test which runs, in words; undefined if nothing does. */
export function complaintAboutTitle(source: string, title: string): string | undefined {
  if (NOT_RUN.test(source)) return 'expected a test that runs, and no test that is left out,';
  const escaped = title.replaceAll(/[.*+?^${}()|[\]\\]/gu, '\\$&');
  const isThere = new RegExp(`(['"\`])${escaped}\\1\\s*[,:]`, 'u').test(source);
  return isThere ? undefined : 'expected a test or a group';
}

function cellsOf(text: string): string[] {
  if (!text.startsWith('|')) return [];
  return text
    .slice(1)
    .split(/(?<!\\)\|/u)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function row(line: number, [behavior = '', verdict = '', specs = '']: readonly string[]): Row {
  return { line, behavior, verdict, specs: specs === '' ? [] : specs.split('<br>') };
}
