/** docs/reference/options.md, from the table of options. */
import type { AnyOption } from '@reroll/shared/platform/options/parsing/option';
import { APPS, defaultText, GROUPS, programsOf } from '@reroll/shared/platform/options/parsing/option';
import { OPTION_LIST } from '@reroll/shared/platform/options/parsing/table';

/** Inside a table cell a pipe would end it. */
function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}

function code(text: string): string {
  return text === '' ? '' : `\`${cell(text)}\``;
}

function users(spec: AnyOption): string {
  const programs = programsOf(spec);
  return programs.length === APPS.length ? 'all' : programs.join(', ');
}

function row(spec: AnyOption): string {
  const initial = typeof spec.default === 'string' ? code(spec.default) : defaultText(spec);
  const columns = [
    [spec.flag, ...(spec.aliases ?? [])].map(code).join(', '),
    code(spec.env),
    cell(spec.type),
    initial,
    users(spec),
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

Every option is a flag and an environment variable. The flag overrides the variable, and the variable the default; an
empty variable counts as unset. If values are invalid, the process reports all of them and exits with code 2 before
anything starts. \`--help\` lists an app's options.

- \`--flag value\` and \`--flag=value\` are the same. A boolean flag alone means true; a value needs the equals sign:
  \`--flag=false\` (\`1 t T TRUE true True\`, \`0 f F FALSE false False\`).
- Lists are separated by commas, and their flags can be repeated. Double quotes keep a comma inside a field.
- Durations are written as in Go, with \`d\` for days: \`500ms\`, \`1h30m\`, \`7d\`, \`0\`.
- Every app accepts all flags of stakater/Reloader, used or not.`;

export function optionsMarkdown(): string {
  return `${[INTRODUCTION, ...GROUPS.map(section)].join('\n\n')}\n`;
}
