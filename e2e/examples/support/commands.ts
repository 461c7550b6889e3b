import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { run, type RunResult } from '../../../tools/cluster/src/run.ts';
import { CLI } from '../../support/admin/reroll-cli.ts';
import { cleanUp } from '../../support/cleanup.ts';

export interface Tools {
  readonly kubeconfig: string;
  readonly kubectl: string;
}

/** Where commands of the documentation run: kubectl, with the plugin `reroll`, and an empty folder. */
export class Shell {
  /** The folder. */
  readonly root: string;
  /** What the commands before have exported. */
  readonly env: Record<string, string>;
  readonly #tools: Tools;

  constructor(tools: Tools, env: Readonly<Record<string, string>> = {}) {
    this.#tools = tools;
    this.env = { ...env };
    this.root = mkdtempSync(join(tmpdir(), 'reroll-example-'));
    cleanUp(() => rmSync(this.root, { recursive: true, force: true }));
    this.program('kubectl-reroll', `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
  }

  /** Runs a command that has to succeed, and resolves with what it prints. `export` is for all commands that follow. */
  async run(command: string): Promise<string> {
    const [, name] = /^export (\w+)=/u.exec(command) ?? [];
    const { code, stdout, tail } = await this.attempt(
      name === undefined ? command : `${command}; printf %s "$${name}"`,
    );
    if (code !== 0) throw new Error(`expected \`${command}\` to succeed: ${tail}`);
    if (name === undefined) return stdout;
    this.env[name] = stdout;
    return '';
  }

  /** The same for one that may fail. */
  async attempt(command: string): Promise<RunResult> {
    const path = [dirname(this.#tools.kubectl), this.root, process.env['PATH'] ?? ''].join(delimiter);
    const env = { ...this.env, KUBECONFIG: this.#tools.kubeconfig, HOME: this.root, PATH: path };
    return await run('sh', ['-c', command], { cwd: this.root, env });
  }

  /** Puts a program on the PATH of the commands. */
  program(name: string, text: string): void {
    const path = join(this.root, name);
    writeFileSync(path, text);
    chmodSync(path, 0o755);
  }
}

/** The commands of a page, each of which is to be run. */
export class Commands {
  /** Those that nobody has run yet, in the order of the page. */
  readonly left: string[];
  readonly #page: string;
  readonly #shell: Shell;

  /** `page` is its name in errors. */
  constructor(page: string, commands: readonly string[], shell: Shell) {
    this.#page = page;
    this.left = [...commands];
    this.#shell = shell;
  }

  /** Runs the first command that has this text and was not run yet. Resolves with what it prints. */
  async run(part: string): Promise<string> {
    return await this.#shell.run(this.standIn(part));
  }

  /** Counts a command as run, because the spec does what it would do. */
  standIn(part: string): string {
    const at = this.left.findIndex((command) => command.includes(part));
    const [command] = at < 0 ? [] : this.left.splice(at, 1);
    if (command === undefined) throw new Error(`expected a command with "${part}" in ${this.#page}`);
    return command;
  }
}

/** Of the blocks that begin with this fence; a command may go on after a backslash. */
export function commandsOf(page: string, fence: 'sh' | 'sh runnable'): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${fence}\\n([^]*?)^\`\`\``, 'gmu'))]
    .flatMap(([, block = '']) => block.replaceAll(/\\\n\s*/gu, '').split('\n'))
    .map((line) => line.replace(/\s+# .*$/u, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}
