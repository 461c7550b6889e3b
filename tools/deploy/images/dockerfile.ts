import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../../..');
export const DOCKERFILE = join(ROOT, 'deploy/docker/Dockerfile');

/** The apps that have an image: a stage of the Dockerfile each. */
export const APPS = ['watcher', 'worker', 'admin'] as const;
/** The others: the dashboard is served by admin, and the command line runs where people are. */
export const WITHOUT_IMAGE = ['dashboard', 'cli', 'standalone'] as const;
export type App = (typeof APPS)[number];

export interface Instruction {
  /** In capitals. */
  readonly name: string;
  /** On one line. */
  readonly text: string;
}

/** The instructions of a Dockerfile, in order, without comments. */
export function instructions(text: string = readFileSync(DOCKERFILE, 'utf8')): readonly Instruction[] {
  const lines = text.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
  const whole = lines.join('\n').replaceAll(/\\\n\s*/g, '');
  return whole.split('\n').map((line) => {
    const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    return { name: name.toUpperCase(), text: rest };
  });
}

/** Default of an `ARG` that stands before the first stage, such as `NODE_IMAGE`. */
export function imageArgument(name: 'NODE_IMAGE' | 'BASE_IMAGE'): string {
  const found = instructions().find((each) => each.name === 'ARG' && each.text.startsWith(`${name}=`));
  if (found === undefined) throw new Error(`expected ${DOCKERFILE} to have an ARG ${name}`);
  return found.text.slice(name.length + 1);
}
