import type { ExplainSettings } from '@reroll/core/explain/facts';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { META_INFO_LABELS } from '@reroll/shared/platform/process/meta-info';
import { explainSettings } from '@reroll/shared/platform/options/explain-settings';
import { parseOptions } from '@reroll/shared/platform/options/parsing/parse';
import { z } from 'zod';
import { CliError, usageError } from '../errors.ts';
import type { Session } from '../session.ts';

/** The settings of the rules, and their origin for the user. */
export interface FoundSettings {
  readonly settings: ExplainSettings;
  readonly from: string;
}

/**
 * Reads the settings from the given flags of Reroll, else from the ConfigMap in which an installation describes itself,
 * else Reroll's defaults.
 * @throws a usage error for unknown flags of Reroll
 */
export async function findSettings(session: Session, flags: readonly string[]): Promise<FoundSettings> {
  if (flags.length > 0) return { settings: settingsOf(flags), from: `the flags given: ${flags.join(' ')}` };
  const found = await findMetaInfo(session);
  if (found === undefined) {
    return { settings: settingsOf([]), from: 'the defaults of Reroll: no installation says how it is set' };
  }
  const { namespace, name, options } = found;
  return { settings: settingsOf(flagsOf(options)), from: `the ConfigMap ${namespace}/${name}` };
}

function settingsOf(flags: readonly string[]): ExplainSettings {
  const parsed = parseOptions('worker', flags, {});
  if (!parsed.ok)
    throw usageError(parsed.errors[0] ?? 'expected flags of Reroll after --', ...parsed.errors.slice(1));
  return explainSettings(parsed.options);
}

const TEXT_FLAGS = {
  configmapUpdateOnChangeAnnotation: '--configmap-annotation',
  secretUpdateOnChangeAnnotation: '--secret-annotation',
  secretProviderClassUpdateOnChangeAnnotation: '--secret-provider-class-annotation',
  reloaderAutoAnnotation: '--auto-annotation',
  ignoreResourceAnnotation: '--ignore-annotation',
  configmapReloaderAutoAnnotation: '--configmap-auto-annotation',
  secretReloaderAutoAnnotation: '--secret-auto-annotation',
  secretProviderClassReloaderAutoAnnotation: '--secret-provider-class-auto-annotation',
  configmapExcludeReloaderAnnotation: '--configmap-exclude-annotation',
  secretExcludeReloaderAnnotation: '--secret-exclude-annotation',
  secretProviderClassExcludeReloaderAnnotation: '--secret-provider-class-exclude-annotation',
  autoSearchAnnotation: '--auto-search-annotation',
  searchMatchAnnotation: '--search-match-annotation',
  rolloutStrategyAnnotation: '--rollout-strategy-annotation',
  pauseDeploymentAnnotation: '--pause-deployment-annotation',
  pauseDeploymentTimeAnnotation: '--pause-deployment-time-annotation',
  reloadStrategy: '--reload-strategy',
} as const;
const BOOLEAN_FLAGS = {
  autoReloadAll: '--auto-reload-all',
  reloadOnCreate: '--reload-on-create',
  reloadOnDelete: '--reload-on-delete',
  syncAfterRestart: '--sync-after-restart',
} as const;
const NUMBER_FLAGS = {
  maxListWords: '--max-list-words',
  maxListBytes: '--max-list-bytes',
  maxPatternCost: '--max-pattern-cost',
  maxWorkloadSources: '--max-workload-sources',
} as const;
const LIST_FLAGS = {
  resourcesToIgnore: '--resources-to-ignore',
  workloadTypesToIgnore: '--ignored-workload-types',
} as const;

const SCALAR_FLAGS = { ...TEXT_FLAGS, ...BOOLEAN_FLAGS, ...NUMBER_FLAGS } as const;

type Shape<Names extends object, Each extends z.ZodType> = { [Name in keyof Names]: z.ZodOptional<Each> };

function shape<Names extends object, Each extends z.ZodType>(names: Names, each: Each): Shape<Names, Each> {
  const entries = Object.keys(names).map((name) => [name, each.optional()]);
  return Object.fromEntries(entries) as Shape<Names, Each>;
}

/** The fields of `reloaderOptions` that the rules need. */
const OPTIONS = z.object({
  ...shape(TEXT_FLAGS, z.string()),
  ...shape(BOOLEAN_FLAGS, z.boolean()),
  ...shape(NUMBER_FLAGS, z.number()),
  ...shape(LIST_FLAGS, z.array(z.string()).nullable()),
  /** Only its host. */
  webhookUrl: z.string().optional(),
});
type MetaOptions = z.infer<typeof OPTIONS>;

function flagsOf(options: MetaOptions): string[] {
  const flags: string[] = [];
  for (const [field, flag] of Object.entries(SCALAR_FLAGS)) {
    const value = options[field as keyof typeof SCALAR_FLAGS];
    if (value !== undefined && value !== '') flags.push(`${flag}=${value}`);
  }
  for (const [field, flag] of Object.entries(LIST_FLAGS)) {
    const values = options[field as keyof typeof LIST_FLAGS] ?? [];
    if (values.length > 0) flags.push(`${flag}=${values.join(',')}`);
  }
  const { webhookUrl = '' } = options;
  return webhookUrl === '' ? flags : [...flags, `--webhook-url=http://${webhookUrl}`];
}

interface MetaInfo {
  readonly namespace: string;
  readonly name: string;
  readonly options: MetaOptions;
}

const CONFIG_MAPS = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), namespace: z.string() }),
      data: z.object({ reloaderOptions: z.string() }).partial().optional(),
    }),
  ),
});

async function findMetaInfo(session: Session): Promise<MetaInfo | undefined> {
  const { client, namespace } = session.cluster;
  const { adminNamespace } = session.globals;
  const everywhere = adminNamespace === undefined ? await list(client) : undefined;
  const likely = adminNamespace === undefined ? ['reroll', namespace ?? 'default'] : [adminNamespace];
  const lists = everywhere ?? (await Promise.all([...new Set(likely)].map((each) => list(client, each))));
  const found = lists.flatMap((each) => each ?? []);
  const [first] = found;
  if (found.length > 1) {
    session.io.err(
      `Several installations say how they are set; the first counts. --admin-namespace chooses another.\n`,
    );
  }
  if (first === undefined) return undefined;
  const { metadata, data } = first;
  return { ...metadata, options: optionsIn(data?.reloaderOptions, `${metadata.namespace}/${metadata.name}`) };
}

type ConfigMapItem = z.infer<typeof CONFIG_MAPS>['items'][number];

/** Undefined if the user may not look there. */
async function list(client: KubeClient, namespace?: string): Promise<ConfigMapItem[] | undefined> {
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const labelSelector = Object.entries(META_INFO_LABELS)
    .map((pair) => pair.join('='))
    .join(',');
  try {
    const { body } = await client.get(`/api/v1${scope}/configmaps`, { query: { labelSelector } });
    return CONFIG_MAPS.parse(body).items;
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return undefined;
    throw error;
  }
}

function optionsIn(text: string | undefined, where: string): MetaOptions {
  try {
    return OPTIONS.parse(JSON.parse(text ?? ''));
  } catch {
    throw new CliError(
      `the ConfigMap ${where} does not say how the installation is set in a way that can be read`,
      {
        hints: ['give the flags that decide after --, e.g. -- --auto-reload-all'],
      },
    );
  }
}
