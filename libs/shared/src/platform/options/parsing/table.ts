/** Every option of every app, by its name in the code. Help, documentation and types derive from this list. */
import type { z } from 'zod';
import { adminOptions } from '../groups/admin.ts';
import { annotationOptions } from './annotations.ts';
import { kubernetesOptions } from '../groups/kubernetes.ts';
import { leaderElectionOptions } from '../groups/leader-election.ts';
import { notificationOptions } from '../groups/notifications.ts';
import { observabilityOptions } from '../groups/observability.ts';
import { isOptionOf, type AnyOption, type Program } from './option.ts';
import { queueOptions } from '../groups/queues.ts';
import { redisOptions } from '../groups/redis.ts';
import { reloadOptions } from '../groups/reload.ts';
import { scopeOptions } from '../groups/scope.ts';

export const OPTIONS = {
  ...kubernetesOptions,
  ...redisOptions,
  ...scopeOptions,
  ...reloadOptions,
  ...annotationOptions,
  ...notificationOptions,
  ...queueOptions,
  ...leaderElectionOptions,
  ...adminOptions,
  ...observabilityOptions,
} as const;

type Table = typeof OPTIONS;

/** The parsed options of a program. Durations are milliseconds. */
export type OptionsOf<P extends Program> = {
  readonly [K in keyof Table as P extends 'standalone' | Table[K]['apps'][number] ? K : never]: z.output<
    Table[K]['schema']
  >;
};
export type WatcherOptions = OptionsOf<'watcher'>;
export type WorkerOptions = OptionsOf<'worker'>;
export type AdminOptions = OptionsOf<'admin'>;
export type StandaloneOptions = OptionsOf<'standalone'>;
/** The options of every app. */
export type CommonOptions = Pick<WatcherOptions, keyof WatcherOptions & keyof WorkerOptions>;

/** The same, as a plain list of name and option. */
export const OPTION_LIST: readonly (readonly [name: string, option: AnyOption])[] = Object.entries(OPTIONS);

export function optionsOf(program: Program): readonly (readonly [name: string, option: AnyOption])[] {
  return OPTION_LIST.filter(([, option]) => isOptionOf(option, program));
}
