/** docs/reference/options.md, from the table of options. */
import type { AnyOption } from '@reroll/shared/platform/options/parsing/option';
import { defaultText, GROUPS, programsOf } from '@reroll/shared/platform/options/parsing/option';
import { OPTION_LIST } from '@reroll/shared/platform/options/parsing/table';

/** Inside a table cell a pipe would end it. */
function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}

function code(text: string): string {
  return text === '' ? '' : `\`${cell(text)}\``;
}

function row(spec: AnyOption): string {
  const initial = typeof spec.default === 'string' ? code(spec.default) : defaultText(spec);
  const columns = [
    [spec.flag, ...(spec.aliases ?? [])].map(code).join(', '),
    code(spec.env),
    cell(spec.type),
    initial,
    programsOf(spec).join(', '),
    cell(spec.description),
  ];
  return `| ${columns.join(' | ')} |`;
}

function section(group: string): string {
  const rows = OPTION_LIST.filter(([, spec]) => spec.group === group).map(([, spec]) => row(spec));
  return [
    `## ${group}`,
    '',
    '| Flag | Environment variable | Type | Default | Used by | Meaning |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

const INTRODUCTION = `<!-- Generated from libs/shared/src/platform/options: run \`npm run -s docs\`. -->

# Options

Every option is a flag and an environment variable. The flag wins over the variable, the variable over the
default; an empty variable counts as unset. All values are read before anything starts: every one that is
wrong is reported, and the process ends with exit code 2. \`--help\` prints the options of an app,
\`--version\` its version.

- \`--flag value\` and \`--flag=value\` are the same. A flag that is true or false needs no value for true, and
  takes one only as \`--flag=false\` (\`1 t T TRUE true True\`, \`0 f F FALSE false False\`).
- Lists are separated by commas; a list's flag can be given again to add to it. A field in double quotes may
  hold commas.
- Durations are written as in Go, with \`d\` for days: \`500ms\`, \`1h30m\`, \`7d\`, \`0\`.
- Every app takes all flags of stakater/Reloader, also those that it does not use itself.`;

export function optionsMarkdown(): string {
  return `${[INTRODUCTION, ...GROUPS.map(section)].join('\n\n')}\n`;
}
