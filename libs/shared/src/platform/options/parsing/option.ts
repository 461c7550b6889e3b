/** Defines what an option is. The options are in `groups/`, one file a concern; `table.ts` lists them all. */
import type { z } from 'zod';

export const APPS = ['watcher', 'worker', 'admin'] as const;
export type App = (typeof APPS)[number];
/** A program that reads options. The standalone one is all apps in one process, and has the options of each. */
export type Program = App | 'standalone';

/** Headings of the help text and the reference page, in order. */
export const GROUPS = [
  'Kubernetes',
  'Redis',
  'Scope',
  'Reloading',
  'Annotations',
  'Alerts and webhook',
  'Queues and history',
  'Leader election and resync',
  'Admin API',
  'Observability and lifecycle',
] as const;
export type Group = (typeof GROUPS)[number];

/** A default that depends on the machine. `text` stands for it in the help. */
export interface FoundDefault {
  readonly text: string;
  readonly find: () => string;
}

/** How a value is written, described and read. `values.ts` has the builders. */
export interface ValueKind<T> {
  /** `bool` needs no value; `list` is comma-separated and may be repeated. */
  readonly form: 'value' | 'bool' | 'list';
  /** Short, for tables: `duration`. */
  readonly type: string;
  /** The rest of the sentence "expected …". */
  readonly expects: string;
  /** Reads the text, or a list's elements. Its only issue is `expects`. */
  readonly schema: z.ZodType<T>;
  /**
   * Good values, or elements of a list, match this and others do not (`patterns.spec.ts` has the exceptions), so that Helm refuses what
   * a process would refuse. Both JavaScript's and Go's regular expressions have to read it.
   */
  readonly pattern?: string;
  /** The pattern is that of the whole list. */
  readonly isOneText?: true;
}

export interface OptionSpec<T, A extends readonly App[] = readonly App[]> extends ValueKind<T> {
  /** With its dashes. The name in the code is the same in camel case. */
  readonly flag: `--${string}`;
  readonly env: string;
  /** Other spellings of the flag. */
  readonly aliases?: readonly `--${string}`[];
  /** As written after the flag. */
  readonly default: string | FoundDefault;
  readonly apps: A;
  readonly group: Group;
  /** One or more sentences. */
  readonly description: string;
  /** A flag of stakater/Reloader: every app accepts it, used or not, so that arguments can stay as they are. */
  readonly incumbent?: true;
  /** The value may hold a credential: it is only printed through `redactUrl`. */
  readonly sensitive?: true;
}

export type AnyOption = OptionSpec<unknown>;

/** An option as its group writes it. `env` defaults to the flag: `--dry-run` is `REROLL_DRY_RUN`. */
type WrittenOption = Omit<AnyOption, 'env' | 'group'> & { readonly env?: string };

/** The options of a group, with their literal types. */
export function options<const S extends Readonly<Record<string, WrittenOption>>>(group: Group, specs: S) {
  const complete = Object.entries(specs).map(([name, spec]) => {
    const env = `REROLL_${spec.flag.slice(2).replaceAll('-', '_').toUpperCase()}`;
    return [name, { env, ...spec, group }];
  });
  return Object.fromEntries(complete) as {
    readonly [K in keyof S]: S[K] & { readonly env: string; readonly group: Group };
  };
}

export const ALL = APPS;
export const BOTH = ['watcher', 'worker'] as const;
export const WATCHER = ['watcher'] as const;
export const WORKER = ['worker'] as const;
export const ADMIN = ['admin'] as const;
/** For an option of the standalone program only. */
export const STANDALONE = [] as const;

export function isOptionOf(spec: AnyOption, program: Program): boolean {
  return program === 'standalone' || spec.apps.includes(program);
}

/** The programs that have the option, for tables. */
export function programsOf({ apps }: AnyOption): readonly Program[] {
  return apps.length === 0 ? ['standalone'] : apps;
}

/** What the help shows as an option's default. */
export function defaultText(spec: AnyOption): string {
  return typeof spec.default === 'string' ? spec.default : spec.default.text;
}

/** `--auto-reload-all` → `autoReloadAll`. */
export function camelCase(flag: string): string {
  return flag
    .replace(/^--/u, '')
    .replaceAll(/-+([a-zA-Z0-9])/gu, (_dash, letter: string) => letter.toUpperCase());
}
