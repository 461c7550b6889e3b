import { parseArgs } from 'node:util';
import type { ClusterOptions } from './cluster.ts';
import { UsageError, messageOf } from './errors.ts';

/** What the command line asks for. */
export type Command =
  | { readonly name: 'help' }
  | { readonly name: 'start'; readonly options: ClusterOptions }
  | { readonly name: 'use-current' }
  | { readonly name: 'stop'; readonly dir: string }
  | { readonly name: 'status'; readonly dir: string };

export const USAGE = `usage: cluster start --dir DIR [options]   start a control plane and a Redis, print where they are
       cluster stop --dir DIR               stop them and remove what they wrote
       cluster status --dir DIR             tell what runs; exit code 3 when not all of it does

options of start:
  --nodes N                        fake nodes (default 3; 0 with a real one)
  --real-nodes 1                   a node that runs pods; needs root (default 0)
  --no-redis                       without Redis
  --no-controller-manager          without kube-controller-manager
  --no-scheduler                   without kube-scheduler
  --audit                          write DIR/audit.log, one line a request
  --api-server-arg=--ARG=VALUE     one more argument of kube-apiserver; may be repeated
  --use-current                    start nothing: verify and print KUBECONFIG and REDIS_URL
`;

const OPTIONS = {
  dir: { type: 'string' },
  nodes: { type: 'string' },
  'real-nodes': { type: 'string' },
  'no-redis': { type: 'boolean' },
  'no-controller-manager': { type: 'boolean' },
  'no-scheduler': { type: 'boolean' },
  audit: { type: 'boolean' },
  'api-server-arg': { type: 'string', multiple: true },
  'use-current': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const MAX_NODES = 1000;

/** @throws UsageError with every problem, as what was expected and what was given. */
export function parseCommand(argv: readonly string[]): Command {
  const { values, positionals } = parse(argv);
  const [name, ...rest] = positionals;
  if (values.help === true || name === 'help') return { name: 'help' };
  const problems = rest.map((word) => `expected one command, given also '${word}'`);
  switch (name) {
    case 'start':
      return values['use-current'] === true
        ? parseUseCurrent(values, problems)
        : parseStart(values, problems);
    case 'stop':
    case 'status':
      return { name, dir: requireDir(values, [...problems, ...foreignOptions(values, name)]) };
    default:
      throw new UsageError([`expected start, stop or status, given ${quoted(name)}`, ...problems]);
  }
}

function parseStart(values: Values, problems: readonly string[]): Command {
  const dir = requireDir(values, [...problems, ...startProblems(values)]);
  return { name: 'start', options: startOptions(dir, values) };
}

function parseUseCurrent(values: Values, problems: readonly string[]): Command {
  const others = given(values).filter((option) => option !== 'use-current' && option !== 'dir');
  const clashes = others.map(
    (option) => `expected no --${option} together with --use-current, which starts nothing`,
  );
  if (problems.length + clashes.length > 0) throw new UsageError([...problems, ...clashes]);
  return { name: 'use-current' };
}

/** The folder, unless it is missing or there are other problems: then all of them are thrown. */
function requireDir({ dir }: Values, problems: readonly string[]): string {
  if (dir === undefined || dir === '') {
    throw new UsageError([...problems, `expected --dir DIR, a folder, given ${quoted(dir)}`]);
  }
  if (problems.length > 0) throw new UsageError(problems);
  return dir;
}

type Values = ReturnType<typeof parse>['values'];

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError([messageOf(error)]);
  }
}

function foreignOptions(values: Values, name: string): string[] {
  const others = given(values).filter((option) => option !== 'dir');
  return others.map((option) => `expected only --dir with ${name}, given also --${option}`);
}

function given(values: Values): string[] {
  return Object.keys(values);
}

function startProblems(values: Values): string[] {
  const problems: string[] = [];
  const { nodes } = values;
  if (nodes !== undefined && !(/^\d{1,4}$/.test(nodes) && Number(nodes) <= MAX_NODES)) {
    problems.push(`expected --nodes to be a number from 0 to ${MAX_NODES}, given '${nodes}'`);
  }
  const real = values['real-nodes'];
  if (real !== undefined && !/^[01]$/.test(real)) {
    problems.push(`expected --real-nodes to be 0 or 1, given '${real}'`);
  }
  return problems;
}

function startOptions(dir: string, values: Values): ClusterOptions {
  const realNodes = values['real-nodes'] === '1' ? 1 : 0;
  return {
    dir,
    detached: true,
    nodes: Number(values.nodes ?? (realNodes === 1 ? '0' : '3')),
    realNodes,
    redis: values['no-redis'] !== true,
    controllerManager: values['no-controller-manager'] !== true,
    scheduler: values['no-scheduler'] !== true,
    audit: values.audit === true,
    apiServerArgs: values['api-server-arg'] ?? [],
  };
}

function quoted(value: string | undefined): string {
  return value === undefined ? 'nothing' : `'${value}'`;
}
