/** What the install of a run is set to, beside its defaults. */
import { hashKey } from '@reroll/core/record/record-hash';
import { hashKeyFile, hashKeysAfter, MOST_TURNS } from './hash-key-file.ts';
import type { Kind } from './process.ts';
import { Random } from './random.ts';
import { dependencies } from './world/depends-on.ts';
import type { Rules } from './world/rules.ts';
import { Scope, WATCHED } from './world/scope.ts';
import { NAMESPACES } from './world/shapes.ts';

interface Setting {
  /** How many of all runs have it. */
  readonly share: number;
  readonly watcher?: readonly string[];
  readonly worker?: readonly string[];
}

/** Both need the same flags. */
function both(share: number, ...flags: readonly string[]): Setting {
  return { share, watcher: flags, worker: flags };
}

const SELECTOR = `watched=${WATCHED.watched}`;
export const PER_MINUTE = 20;
export const AT_ONCE = 3;
const RECEIVER = 'http://receiver.simulated';
export const ALERTS = '/alerts';
const WEBHOOKS = '/webhooks';

/** An option without flags is one of annotations, of what others do, or `hashKey`, whose file changes. The plan has steps for all. */
const SETTINGS = {
  dryRun: { share: 0.1, worker: ['--dry-run'] },
  pauses: { share: 0.2 },
  markerAnnotation: both(0.15, '--reload-strategy=annotations'),
  reloadOnCreate: both(0.15, '--reload-on-create=true'),
  syncAfterRestart: both(0.05, '--reload-on-create=true', '--sync-after-restart'),
  reloadOnDelete: both(0.15, '--reload-on-delete=true'),
  autoReloadAll: both(0.1, '--auto-reload-all'),
  hashKey: { share: 0.1 },
  requests: { share: 0.15 },
  holds: { share: 0.15 },
  waves: { share: 0.12 },
  limit: { share: 0.1, worker: [`--max-reloads-per-minute=${PER_MINUTE}`] },
  alerts: { share: 0.1, worker: ['--alert-on-reload', `--alert-webhook-url=${RECEIVER}${ALERTS}`] },
  webhook: both(0.08, `--webhook-url=${RECEIVER}${WEBHOOKS}`),
  ignoredNamespace: { share: 0.05, watcher: [`--namespaces-to-ignore=${NAMESPACES[1]}`] },
  oneNamespace: both(0.05, `--namespaces=${NAMESPACES[0]}`),
  sourceLabels: both(0.08, `--resource-label-selector=${SELECTOR}`),
  namespaceLabels: { share: 0.15, watcher: [`--namespace-selector=${SELECTOR}`] },
  oddAnnotations: { share: 0.06 },
  quarrels: { share: 0.06 },
  slots: both(0.1, `--max-concurrent-rollouts=${AT_ONCE}`),
  pods: { share: 0.15 },
} as const satisfies Readonly<Record<string, Setting>>;

export type Option = keyof typeof SETTINGS;

const ALL = Object.entries(SETTINGS) as readonly (readonly [Option, Setting])[];

/** How many runs have the defaults only. */
const PLAIN = 0.4;

export function optionsOf(seed: number): Option[] {
  const random = new Random(~seed);
  if (random.chance(PLAIN)) return [];
  const chosen = ALL.filter(([, { share }]) => random.chance(share / (1 - PLAIN))).map(([option]) => option);
  // One way to choose namespaces.
  return chosen.filter((option, at, all) => !isOfNamespaces(option) || all.findIndex(isOfNamespaces) === at);
}

/** What is watched. */
export function scopeOf(options: readonly Option[], now: () => number): Scope {
  const isOne = options.includes('oneNamespace') || options.includes('ignoredNamespace');
  return new Scope({
    now,
    ignored: isOne ? [NAMESPACES[1]] : [],
    selects: options.includes('namespaceLabels'),
  });
}

/** By the documentation, and in other words than Reroll's. */
export function rulesOf(options: readonly Option[], scope: Scope): Rules {
  const has = (option: Option): boolean => options.includes(option);
  const onDelete = has('markerAnnotation') ? 'always' : 'marked';
  const isAutoReloadAll = has('autoReloadAll');
  return {
    dependsOn: dependencies({ isAutoReloadAll, isByLabel: has('sourceLabels') }),
    dependedOn: dependencies({ isAutoReloadAll, isByLabel: false }),
    isInDoubt: (namespace) => scope.isInDoubt(namespace),
    onCreate: has('reloadOnCreate') || has('syncAfterRestart'),
    afterRestart: has('syncAfterRestart'),
    onDelete: has('reloadOnDelete') ? onDelete : 'never',
    hashKeys: has('hashKey') ? hashKeysAfter(MOST_TURNS).map((key) => hashKey(Buffer.from(key))) : [],
  };
}

function isOfNamespaces(option: Option): boolean {
  return option === 'ignoredNamespace' || option === 'oneNamespace' || option === 'namespaceLabels';
}

/** A run is too short for a workload to wait for the default limit. The times of reloads are recorded all the same. */
const OWN: { readonly [Of in Kind]?: readonly string[] } = { worker: ['--workload-reload-limit=40/10m'] };

/** `turns`: how many times the hash keys were turned over. */
export function flagsFor(options: readonly Option[], kind: Kind, turns: number): string[] {
  const chosen = ALL.filter(([option]) => options.includes(option));
  const keys = options.includes('hashKey') ? [`--hash-key-file=${hashKeyFile(turns)}`] : [];
  return [...(OWN[kind] ?? []), ...chosen.flatMap(([, setting]) => setting[kind] ?? []), ...keys];
}
