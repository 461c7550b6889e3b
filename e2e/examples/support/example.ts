import { chmodSync, cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { run, type RunResult } from '../../../tools/cluster/src/run.ts';
import { manifestsOf, type Manifest } from '../../../tools/deploy/render.ts';
import { CLI } from '../../support/admin/reroll-cli.ts';
import { cleanUp } from '../../support/cleanup.ts';
import type { Space } from '../../support/kube.ts';

export const EXAMPLES = join(import.meta.dirname, '../../../examples');

/** The names of the examples that have manifests. */
export const NAMES = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && yamlIn(join(EXAMPLES, entry.name)).length > 0)
  .map(({ name }) => name)
  .sort();

export interface Tools {
  readonly cluster: Cluster;
  readonly kubectl: string;
}

/** A copy of an example in which `shop` is another namespace, and the commands of its README. */
export class Example {
  readonly name: string;
  readonly space: Space;
  /** Where the commands run: `examples/<name>` is in it. */
  readonly root: string;
  /** Commands of the README that nobody has run yet, in its order. */
  readonly left: string[];
  readonly #tools: Tools;

  constructor(name: string, space: Space, tools: Tools) {
    this.name = name;
    this.space = space;
    this.#tools = tools;
    this.root = mkdtempSync(join(tmpdir(), 'reroll-example-'));
    cleanUp(() => rmSync(this.root, { recursive: true, force: true }));
    cpSync(EXAMPLES, join(this.root, 'examples'), { recursive: true });
    for (const file of this.yaml()) this.edit(file, /\bshop\b/gu, space.name);
    this.left = commandsOf(readFileSync(join(this.folder, 'README.md'), 'utf8')).map((command) =>
      command.replaceAll(/(?<=-n |namespace )shop\b/gu, space.name),
    );
    this.program('kubectl-reroll', `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
  }

  get folder(): string {
    return join(this.root, 'examples', this.name);
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

  /** Runs the first of the README's commands that has this text and was not run yet. Resolves with what it prints. */
  async run(part: string): Promise<string> {
    return await this.shell(this.standIn(part));
  }

  /** Counts a command of the README as run, because the spec does what it would do. */
  standIn(part: string): string {
    const at = this.left.findIndex((command) => command.includes(part));
    const [command] = at < 0 ? [] : this.left.splice(at, 1);
    if (command === undefined)
      throw new Error(`expected a command with "${part}" in the README of ${this.name}`);
    return command;
  }

  /** Runs a command as the README's are, and resolves with what it prints. */
  async shell(command: string): Promise<string> {
    const { code, stdout, tail } = await this.attempt(command);
    if (code !== 0) throw new Error(`expected \`${command}\` to succeed: ${tail}`);
    return stdout;
  }

  /** The same for one that may fail. */
  async attempt(command: string): Promise<RunResult> {
    const path = [dirname(this.#tools.kubectl), this.root, process.env['PATH'] ?? ''].join(delimiter);
    const env = { KUBECONFIG: this.#tools.cluster.kubeconfig, HOME: this.root, PATH: path };
    return await run('sh', ['-c', command], { cwd: this.root, env });
  }

  /** Puts a program on the PATH of the commands. */
  program(name: string, text: string): void {
    const path = join(this.root, name);
    writeFileSync(path, text);
    chmodSync(path, 0o755);
  }
}

/** Of the blocks that are `sh`; a command may go on after a backslash. */
function commandsOf(readme: string): string[] {
  return [...readme.matchAll(/^```sh\n([^]*?)^```/gmu)]
    .flatMap(([, block = '']) => block.replaceAll(/\\\n\s*/gu, '').split('\n'))
    .map((line) => line.replace(/\s+# .*$/u, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

function yamlIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.yaml'));
}
