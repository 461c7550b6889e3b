/** docs/reference/cli.md, from the command line's own help. */
import type { Argument, Command, Option } from 'commander';
import { EXIT, EXIT_MEANINGS } from '../../apps/cli/src/errors.ts';

/** Imported when it is asked for: that takes long. */
/** Without anything that it could do. */
export async function cliProgram(): Promise<Command> {
  const { buildProgram } = await import('../../apps/cli/src/program.ts');
  const io = {
    out: () => undefined,
    err: () => undefined,
    outIsTerminal: false,
    errIsTerminal: false,
    env: {},
    now: () => 0,
    signal: new AbortController().signal,
  };
  return buildProgram('reroll', { io, finish: () => undefined });
}

const INTRODUCTION = `<!-- Generated from apps/cli/src: run \`npm run build\` and \`npm run -s docs\`. -->

# Command line

\`kubectl reroll <command>\` and \`reroll <command>\` are the same. [The guide](../guide/cli.md) says how to install and use them.
Data goes to standard output, everything else to standard error.`;

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll('<', '&lt;');
}

function code(text: string): string {
  return `\`${text.replaceAll('|', String.raw`\|`)}\``;
}

function optionRow({ flags, description, argChoices, defaultValue, mandatory }: Option): string {
  const choices = argChoices === undefined ? [] : [`one of ${argChoices.join(', ')}`];
  const needed = mandatory ? ['required'] : [];
  const initial = typeof defaultValue === 'string' ? [`default ${code(defaultValue)}`] : [];
  return `| ${code(flags)} | ${[cell(description), ...choices, ...needed, ...initial].join('; ')} |`;
}

function table(rows: readonly string[]): string[] {
  return rows.length === 0 ? [] : [['| | |', '|---|---|', ...rows].join('\n')];
}

function argumentRow(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  const choices = argument.argChoices === undefined ? '' : `: ${argument.argChoices.join(', ')}`;
  return `| ${code(argument.required ? `<${name}>` : `[${name}]`)} | ${cell(argument.description)}${choices} |`;
}

function section(command: Command): string {
  return [
    `## reroll ${command.name()}`,
    command.description(),
    code(`reroll ${command.name()} ${command.usage()}`),
    ...table([...command.registeredArguments.map(argumentRow), ...command.options.map(optionRow)]),
  ].join('\n\n');
}

function exitCodes(): string {
  const rows = Object.entries(EXIT).map(
    ([name, number]) => `| ${number} | ${EXIT_MEANINGS[name as keyof typeof EXIT]} |`,
  );
  return ['## Exit codes', ['| Code | |', '|---|---|', ...rows].join('\n')].join('\n\n');
}

export async function cliMarkdown(): Promise<string> {
  const root = await cliProgram();
  const everywhere = ['## Options of every command', ...table(root.options.map(optionRow))];
  const commands = root.commands.map(section);
  return `${[INTRODUCTION, ...everywhere, ...commands, exitCodes()].join('\n\n')}\n`;
}
