import { CliError } from '../errors.ts';
import type { Io } from '../io.ts';
import { paintFor } from './color.ts';
import { jsonText, yamlText } from './document.ts';
import { safeText } from './safe-text.ts';
import { table, type Column } from './table.ts';

export const LIST_OUTPUTS = ['json', 'yaml', 'wide', 'name'] as const;
export const ONE_OUTPUTS = ['json', 'yaml'] as const;
export const WIDE_OUTPUTS = ['json', 'yaml', 'wide'] as const;
export type Output = (typeof LIST_OUTPUTS)[number];

export interface ListView<Item> {
  readonly columns: readonly Column<Item>[];
  /** `-o name`: names that the commands accept. */
  readonly nameOf: (item: Item) => string;
}

/** Prints JSON or YAML if requested; returns whether it did. */
export function printDocument(io: Io, output: Output | undefined, value: unknown): boolean {
  if (output === 'json') io.out(jsonText(value));
  else if (output === 'yaml') io.out(yamlText(value));
  return output === 'json' || output === 'yaml';
}

/** Prints JSON, YAML or, for `-o name`, the name if requested; returns whether it did. */
export function printNamed(
  io: Io,
  output: Output | undefined,
  { value, name }: { readonly value: unknown; readonly name: string },
): boolean {
  if (output === 'name') io.out(`${safeText(name)}\n`);
  return output === 'name' || printDocument(io, output, value);
}

export interface PrintedList<Item> {
  readonly items: readonly Item[];
  readonly more: boolean;
  /** The description of an empty list, e.g. `changes`; with ` in the namespace shop`. */
  readonly noun: string;
  readonly view: ListView<Item>;
}

/** Prints a list in the requested form; for programs, as one page of the API. */
export function printList<Item>(io: Io, output: Output | undefined, list: PrintedList<Item>): void {
  const { items, more, noun, view } = list;
  if (printDocument(io, output, { items })) return noteMore(io, list);
  if (output === 'name') {
    io.out(items.map((item) => `${safeText(view.nameOf(item))}\n`).join(''));
  } else if (items.length === 0) {
    io.err(`No ${noun} found.\n`);
  } else {
    const paint = paintFor(io, io.outIsTerminal);
    io.out(table(view.columns, items, { paint, wide: output === 'wide' }));
  }
  if (more) noteMore(io, list);
}

function noteMore<Item>(io: Io, { more, items }: PrintedList<Item>): void {
  if (more)
    io.err(`There are more than these ${items.length}: --limit takes a larger number, 0 gives all.\n`);
}

export function printError(io: Io, error: CliError): void {
  const paint = paintFor(io, io.errIsTerminal);
  io.err(`${paint('error:', 'bad')} ${safeText(error.message)}\n`);
  for (const hint of error.hints) io.err(`  ${safeText(hint)}\n`);
}
