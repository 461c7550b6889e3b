/** The text of `--help`: every option of a program, grouped, with its environment variable and default. */
import type { AnyOption, Program } from './option.ts';
import { defaultText, GROUPS } from './option.ts';
import { optionsOf } from './table.ts';

const INDENT = ' '.repeat(8);
const WIDTH = 100;

/** Lines of at most `WIDTH` characters, each indented. */
function wrap(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && INDENT.length + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => INDENT + each).join('\n');
}

function entry(spec: AnyOption): string {
  const value = spec.form === 'bool' ? '' : ` <${spec.type}>`;
  const initial = defaultText(spec);
  const origin = `[${spec.env}${initial === '' ? '' : `, default ${initial}`}]`;
  const spellings = [spec.flag, ...(spec.aliases ?? [])].map((flag) => flag + value).join(', ');
  return `  ${spellings}\n${wrap(`${spec.description} ${origin}`)}`;
}

export function helpText(program: Program): string {
  const specs = optionsOf(program).map(([, spec]) => spec);
  const sections = GROUPS.map((group) => ({ group, specs: specs.filter((spec) => spec.group === group) }))
    .filter((section) => section.specs.length > 0)
    .map((section) => `${section.group}:\n${section.specs.map(entry).join('\n')}`);
  return [
    `Usage: reroll-${program} [flags]`,
    'Each flag can be given by the environment variable in brackets; the flag wins.',
    ...sections,
    'Other:\n  -h, --help\n        Print this text.\n  --version\n        Print the version.',
  ].join('\n\n');
}
