import type { ExplainSettings } from '@reroll/core/explain/facts';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { META_ANNOTATIONS, META_INFO_LABELS, META_OWN } from '@reroll/shared/platform/process/meta-info';
import { explainSettings } from '@reroll/shared/platform/options/explain-settings';
import { parseOptions } from '@reroll/shared/platform/options/parsing/parse';
import { OPTIONS, type StandaloneOptions } from '@reroll/shared/platform/options/parsing/table';
import { z } from 'zod';
import { CliError, usageError } from '../errors.ts';
import type { Session } from '../session.ts';

/** The settings of the rules, and their origin for the user. */
export interface FoundSettings {
  readonly settings: ExplainSettings;
  /** All options, for what is watched. */
  readonly options: StandaloneOptions;
  readonly from: string;
  /** The namespace of the installation; null: there is none; undefined: not known. */
  readonly namespace?: string | null;
}

/**
 * Reads the settings from the given flags of Reroll, else from the ConfigMap in which an installation describes itself,
 * else Reroll's defaults.
 * @throws a usage error for unknown flags of Reroll
 */
export async function findSettings(session: Session, flags: readonly string[]): Promise<FoundSettings> {
  if (flags.length > 0) return { ...settingsOf(flags), from: `the flags given: ${flags.join(' ')}` };
  const found = await findMetaInfo(session);
  if (found === undefined) {
    return { ...settingsOf([]), from: 'the defaults of Reroll: no installation says how it is set' };
  }
  if (found === null) {
    const from =
      'the defaults of Reroll: no installation was found, so no freeze of everything is considered';
    return { ...settingsOf([]), from, namespace: null };
  }
  const { namespace, name, options } = found;
  return { ...settingsOf(flagsOf(options)), from: `the ConfigMap ${namespace}/${name}`, namespace };
}

/** By the options of all programs: workers and watchers decide by them. */
function settingsOf(flags: readonly string[]): Pick<FoundSettings, 'settings' | 'options'> {
  const parsed = parseOptions('standalone', flags, {});
  if (!parsed.ok)
    throw usageError(parsed.errors[0] ?? 'expected flags of Reroll after --', ...parsed.errors.slice(1));
  return { settings: explainSettings(parsed.options), options: parsed.options };
}

/** Fields of `reloaderOptions` that decide, and the options; by the form of their values. */
const TEXTS = {
  ...META_ANNOTATIONS,
  ...named(META_OWN.texts),
  reloadStrategy: 'reloadStrategy',
  bake: 'bake',
  isOpenshift: 'isOpenshift',
} as const;
const BOOLEANS = {
  ...named([...META_OWN.booleans, 'autoReloadAll', 'reloadOnCreate', 'reloadOnDelete', 'syncAfterRestart']),
  isArgoRollouts: 'isArgoRollouts',
  enableCSIIntegration: 'enableCsiIntegration',
} as const;
const NUMBERS = named(META_OWN.numbers);
const LISTS = {
  ...named(META_OWN.lists),
  resourcesToIgnore: 'resourcesToIgnore',
  workloadTypesToIgnore: 'ignoredWorkloadTypes',
  namespacesToIgnore: 'namespacesToIgnore',
  namespaceSelectors: 'namespaceSelector',
  resourceSelectors: 'resourceLabelSelector',
} as const;

/** Fields that are called like their options. */
function named<const Name extends keyof StandaloneOptions>(
  names: readonly Name[],
): { readonly [N in Name]: N } {
  return Object.fromEntries(names.map((name) => [name, name])) as { readonly [N in Name]: N };
}

type Shape<Names extends object, Each extends z.ZodType> = { [Name in keyof Names]: z.ZodOptional<Each> };

function shape<Names extends object, Each extends z.ZodType>(names: Names, each: Each): Shape<Names, Each> {
  const entries = Object.keys(names).map((name) => [name, each.optional()]);
  return Object.fromEntries(entries) as Shape<Names, Each>;
}

const META_OPTIONS = z.object({
  ...shape(TEXTS, z.string()),
  ...shape(BOOLEANS, z.boolean()),
  ...shape(NUMBERS, z.number()),
  ...shape(LISTS, z.array(z.string()).nullable()),
  /** Only its host. */
  webhookUrl: z.string().optional(),
});
type MetaOptions = z.infer<typeof META_OPTIONS>;

function flagsOf(options: MetaOptions): string[] {
  const fields = { ...TEXTS, ...BOOLEANS, ...NUMBERS, ...LISTS };
  const flags = Object.entries(fields).flatMap(([field, name]) => {
    const text = options[field as keyof typeof fields]?.toString() ?? '';
    const { flag, schema } = OPTIONS[name];
    // '' switches a key off. It is no value of other fields, and they say nothing then.
    return text !== '' || (field in options && schema.safeParse('').success) ? [`${flag}=${text}`] : [];
  });
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

/** Null: there is none; undefined: none was found where the user may look. */
async function findMetaInfo(session: Session): Promise<MetaInfo | null | undefined> {
  const { client, namespace } = session.cluster;
  const { adminNamespace } = session;
  const everywhere = adminNamespace === undefined ? await list(client) : undefined;
  const likely = adminNamespace === undefined ? ['reroll', namespace ?? 'default'] : [adminNamespace];
  const lists = everywhere ?? (await Promise.all([...new Set(likely)].map((each) => list(client, each))));
  const found = lists.flatMap((each) => each ?? []);
  const [first] = found;
  if (found.length > 1) {
    session.io.err('Found several installations; using the first. --admin-namespace chooses another.\n');
  }
  if (first === undefined) return everywhere ? null : undefined;
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
    return META_OPTIONS.parse(JSON.parse(text ?? ''));
  } catch {
    throw new CliError(
      `the ConfigMap ${where} does not say how the installation is set in a way that can be read`,
      {
        hints: ['give the flags that decide after --, e.g. -- --auto-reload-all'],
      },
    );
  }
}
