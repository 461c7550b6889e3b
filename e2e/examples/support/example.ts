import { cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunResult } from '../../../tools/cluster/src/run.ts';
import { manifestsOf, type Manifest } from '../../../tools/deploy/render.ts';
import type { Space } from '../../support/kube.ts';
import { Commands, Shell, commandsOf, type Tools } from './commands.ts';

export const EXAMPLES = join(import.meta.dirname, '../../../examples');

/** The names of the examples that have manifests. */
export const NAMES = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && yamlIn(join(EXAMPLES, entry.name)).length > 0)
  .map(({ name }) => name)
  .sort();

/** A copy of an example in which `shop` is another namespace, and the commands of its README. */
export class Example {
  readonly name: string;
  readonly space: Space;
  readonly #shell: Shell;
  readonly #commands: Commands;

  constructor(name: string, space: Space, tools: Tools) {
    this.name = name;
    this.space = space;
    this.#shell = new Shell(tools);
    cpSync(EXAMPLES, join(this.root, 'examples'), { recursive: true });
    for (const file of this.yaml()) this.edit(file, /\bshop\b/gu, space.name);
    const commands = commandsOf(readFileSync(join(this.folder, 'README.md'), 'utf8'), 'sh').map((command) =>
      command.replaceAll(/(?<=-n |namespace )shop\b/gu, space.name),
    );
    this.#commands = new Commands(`the README of ${name}`, commands, this.#shell);
  }

  /** Where the commands run: `examples/<name>` is in it. */
  get root(): string {
    return this.#shell.root;
  }

  get folder(): string {
    return join(this.root, 'examples', this.name);
  }

  /** Commands of the README that nobody has run yet, in its order. */
  get left(): readonly string[] {
    return this.#commands.left;
  }

  /** The names of its YAML files. */
  yaml(): readonly string[] {
    return yamlIn(this.folder);
  }

  /** What `kubectl apply` would apply of it. */
  async objects(): Promise<readonly Manifest[]> {
    if (this.yaml().includes('kustomization.yaml'))
      return manifestsOf(await this.shell(`kubectl kustomize examples/${this.name}`));
    return this.yaml().flatMap((file) => manifestsOf(readFileSync(join(this.folder, file), 'utf8')));
  }

  /** Replaces text in a file of the copy; it has to be there, unless the expression is global. */
  edit(file: string, from: string | RegExp, to: string): void {
    const path = join(this.folder, file);
    const text = readFileSync(path, 'utf8');
    if (typeof from === 'string' && !text.includes(from)) throw new Error(`expected ${from} in ${file}`);
    writeFileSync(path, text.replace(from, to));
  }

  /** Runs the first of the README's commands that has this text and was not run yet; a watch only lists. Resolves with what it prints. */
  async run(part: string): Promise<string> {
    return await this.shell(this.standIn(part).replace(/ --watch$/u, ''));
  }

  /** Counts a command of the README as run, because the spec does what it would do. */
  standIn(part: string): string {
    return this.#commands.standIn(part);
  }

  /** Runs a command as the README's are, and resolves with what it prints. */
  async shell(command: string): Promise<string> {
    return await this.#shell.run(command);
  }

  /** The same for one that may fail. */
  async attempt(command: string): Promise<RunResult> {
    return await this.#shell.attempt(command);
  }

  /** Puts a program on the PATH of the commands. */
  program(name: string, text: string): void {
    this.#shell.program(name, text);
  }
}

function yamlIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.yaml'));
}
