import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../../..');
export const DOCKERFILE = join(ROOT, 'deploy/docker/Dockerfile');

/** The components that the chart runs by one image, each in a role of its own name. */
export const COMPONENTS = ['watcher', 'worker', 'admin'] as const;
/** First arguments of the image's program; `all` is apps/standalone. */
export const ROLES = [...COMPONENTS, 'all'] as const;
export type Role = (typeof ROLES)[number];

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

/** The environment that the image gives its processes. */
export function imageEnvironment(): Readonly<Record<string, string>> {
  const all = instructions();
  const pairs = all
    .slice(all.findLastIndex(({ name }) => name === 'FROM'))
    .filter(({ name }) => name === 'ENV')
    .flatMap(({ text }) => text.split(/\s+/))
    .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const);
  return Object.fromEntries(pairs);
}

/** Default of an `ARG` that stands before the first stage, such as `NODE_IMAGE`. */
export function imageArgument(name: 'NODE_IMAGE' | 'BASE_IMAGE'): string {
  const found = instructions().find((each) => each.name === 'ARG' && each.text.startsWith(`${name}=`));
  if (found === undefined) throw new Error(`expected ${DOCKERFILE} to have an ARG ${name}`);
  return found.text.slice(name.length + 1);
}
