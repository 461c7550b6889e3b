/** Reads `docs/compatibility.md`: its rows, and the specs that they name. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** Where a spec of a row may be: as given from the top, or in the library. */
const FOLDERS = ['', 'libs/shared/src'];
const VERDICTS = ['same', 'better', 'different', 'not yet'] as const;

export interface Row {
  /** Of the page, from 1. */
  readonly line: number;
  readonly behaviour: string;
  readonly verdict: string;
  readonly specs: readonly string[];
}

/** Rows of every table with the three columns behaviour, Reroll, spec. */
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
export function complaintAbout({ behaviour, verdict, specs }: Row): string | undefined {
  const word = VERDICTS.find((each) => verdict.startsWith(each));
  if (behaviour === '' || word === undefined) {
    return `expected a behaviour and one of ${VERDICTS.join(', ')}; given ${JSON.stringify(verdict)}`;
  }
  if ((word === 'better' || word === 'different') && !/^\w+: ./u.test(verdict)) {
    return `expected how it is ${word}, after a colon; given ${JSON.stringify(verdict)}`;
  }
  if ((word === 'same' || word === 'better') && specs.length === 0) return 'expected a spec; given none';
  return specs.map(complaintAboutSpec).find((complaint) => complaint !== undefined);
}

/** `path/of.spec.ts` > title: the file is there, and has a text in quotes that is the title. */
function complaintAboutSpec(spec: string): string | undefined {
  const { path = '', title = '' } = /^`(?<path>[^`]+\.spec\.ts)` > (?<title>.+)$/u.exec(spec)?.groups ?? {};
  const file = FOLDERS.map((folder) => join(ROOT, folder, path)).find((each) => existsSync(each));
  if (path === '' || file === undefined) return `expected the path of a spec; given ${spec}`;
  const source = readFileSync(file, 'utf8');
  const escaped = title.replaceAll(/[.*+?^${}()|[\]\\]/gu, '\\$&');
  const isThere = new RegExp(`(['"\`])${escaped}\\1\\s*[,:]`, 'u').test(source);
  return isThere ? undefined : `expected a test or a group of ${path}; given ${JSON.stringify(title)}`;
}

function cellsOf(text: string): string[] {
  if (!text.startsWith('|')) return [];
  return text
    .slice(1)
    .split(/(?<!\\)\|/u)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function row(line: number, [behaviour = '', verdict = '', specs = '']: readonly string[]): Row {
  return { line, behaviour, verdict, specs: specs === '' ? [] : specs.split('<br>') };
}
