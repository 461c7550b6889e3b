import { createHash } from 'node:crypto';
import { ADOPTED_LISTS } from './adopted.ts';
import type { SourceName } from '../state/rows.ts';
import type { ObjectMeta, PodTemplate, SourceData } from '../model.ts';

/** On the pod template: one hash over everything that Wave watched for the workload. */
export const WAVE_HASH = 'wave.pusher.com/config-hash';

/** The keys in the hash, or all. */
type Keys = ReadonlySet<string> | 'all';

/** Maps a source to its keys in the hash. */
export type WaveChildren = ReadonlyMap<SourceName, Keys>;

/**
 * Returns what Wave's hash covers: volumes; `envFrom` and `env` of containers other than init containers; and the lists of extra
 * sources. Of a single variable, or a projected volume with `items`, only those keys. Undefined if an extra source is in another
 * namespace.
 */
export function waveChildren(workload: {
  metadata: ObjectMeta;
  template: PodTemplate;
}): WaveChildren | undefined {
  const children = new Map<SourceName, Set<string> | 'all'>();
  for (const [kind, name, keys] of [...usesOf(workload.template), ...extrasOf(workload.metadata)]) {
    if (name.includes('/')) return undefined;
    const source = `${kind}/${name}`;
    const known = children.get(source);
    if (keys === 'all' || known === 'all') children.set(source, 'all');
    else if (known) for (const key of keys) known.add(key);
    else children.set(source, new Set(keys));
  }
  return children;
}

/** Returns the sources whose current data the hash proves: those that no init container reads into a variable. */
export function provenByWave(children: WaveChildren, { spec }: PodTemplate): ReadonlySet<SourceName> {
  const uses = (spec?.initContainers ?? []).flatMap(envUses);
  const unseen = new Set(uses.map(([kind, name]) => `${kind}/${name}`));
  return new Set([...children.keys()].filter((name) => !unseen.has(name)));
}

const EMPTIES = ['{}', 'null'];

/**
 * What Wave would write for data that is added source by source, so that never all of it is in memory. It is the SHA-256 (hex) of
 * `{"configMaps":{name:{key:value}},"secrets":{…}}` as Go writes it: keys sorted, values in base64. Up to release 0.6, ConfigMap
 * values are text, without `binaryData`. A source without keys is `{}` or `null`.
 */
export class WaveMark {
  /** The sources, in the order in which to add them. */
  readonly names: readonly SourceName[];
  readonly #children: WaveChildren;
  readonly #forms = [bytesForm, textForm].flatMap((form) =>
    EMPTIES.flatMap((ConfigMap) =>
      EMPTIES.map((Secret) => ({ form, ConfigMap, Secret, hash: createHash('sha256') })),
    ),
  );
  #kind: Kind = 'ConfigMap';
  #isFirst = true;

  constructor(children: WaveChildren) {
    this.#children = children;
    this.names = [...children.keys()].sort();
    this.#write('{"configMaps":{');
  }

  /** Do not add a source that does not exist. */
  add(name: SourceName, data: SourceData): void {
    if (name.startsWith('Secret/')) this.#beginSecrets();
    const kind = this.#kind;
    const keys = this.#children.get(name) ?? 'all';
    this.#write(`${this.#isFirst ? '' : ','}${JSON.stringify(name.slice(kind.length + 1))}:`);
    this.#isFirst = false;
    for (const { hash, form, ...empty } of this.#forms)
      hash.update(objectOf(form(kind, data), keys, empty[kind]));
  }

  /** Whether Wave would write exactly this hash. Call it once, after the last source. */
  is(marked: string): boolean {
    this.#beginSecrets();
    this.#write('}}');
    return this.#forms.some(({ hash }) => hash.digest('hex') === marked);
  }

  #beginSecrets(): void {
    if (this.#kind === 'Secret') return;
    this.#kind = 'Secret';
    this.#isFirst = true;
    this.#write('},"secrets":{');
  }

  #write(text: string): void {
    for (const { hash } of this.#forms) hash.update(text);
  }
}

type Kind = 'ConfigMap' | 'Secret';
type Use = readonly [Kind, string, Keys];
/** Maps a key to its value as JSON. */
type Entries = ReadonlyMap<string, string>;

function usesOf({ spec }: PodTemplate): Use[] {
  const volumes = (spec?.volumes ?? []).flatMap(({ configMap, secret, projected }) => [
    ...use('ConfigMap', configMap?.name, 'all'),
    ...use('Secret', secret?.secretName, 'all'),
    ...(projected?.sources ?? []).flatMap((source) => [
      ...use('ConfigMap', source.configMap?.name, itemsOf(source.configMap?.items)),
      ...use('Secret', source.secret?.name, itemsOf(source.secret?.items)),
    ]),
  ]);
  return [...volumes, ...(spec?.containers ?? []).flatMap(envUses)];
}

type SpecContainer = NonNullable<NonNullable<PodTemplate['spec']>['containers']>[number];

function envUses({ env = [], envFrom = [] }: SpecContainer): Use[] {
  const whole = envFrom.flatMap(({ configMapRef, secretRef }) => [
    ...use('ConfigMap', configMapRef?.name, 'all'),
    ...use('Secret', secretRef?.name, 'all'),
  ]);
  const single = env.flatMap(({ valueFrom }) => [
    ...useOfKey('ConfigMap', valueFrom?.configMapKeyRef),
    ...useOfKey('Secret', valueFrom?.secretKeyRef),
  ]);
  return [...whole, ...single];
}

function useOfKey(
  kind: Kind,
  ref: { name?: string | undefined; key?: string | undefined } | undefined,
): Use[] {
  return ref ? use(kind, ref.name, new Set([ref.key ?? ''])) : [];
}

function use(kind: Kind, name: string | undefined, keys: Keys): Use[] {
  return name === undefined || name === '' ? [] : [[kind, name, keys]];
}

function itemsOf(items: readonly { readonly key: string }[] | null | undefined): Keys {
  return items ? new Set(items.map(({ key }) => key)) : 'all';
}

/** Wave does not trim: a name with a blank matches no source. A name in another namespace keeps its prefix. */
function extrasOf({ annotations = {}, namespace }: ObjectMeta): Use[] {
  return (['ConfigMap', 'Secret'] as const).flatMap((kind) =>
    (annotations[ADOPTED_LISTS.wave[kind] ?? ''] ?? '')
      .split(',')
      .map((word) => (word.startsWith(`${namespace}/`) ? word.slice(namespace.length + 1) : word))
      .filter((name) => /^[a-z0-9./-]+$/.test(name))
      .flatMap((name) => use(kind, name, 'all')),
  );
}

function objectOf(entries: Entries, keys: Keys, empty: string): string {
  if (keys === 'all' && entries.size === 0) return empty;
  const chosen = [...entries.keys()].filter((key) => keys === 'all' || keys.has(key)).sort();
  return `{${chosen.map((key) => `${JSON.stringify(key)}:${entries.get(key) ?? ''}`).join(',')}}`;
}

function bytesForm(kind: Kind, { data = {}, binaryData = {} }: SourceData): Entries {
  const base64 = (value: string, encoding: BufferEncoding): string =>
    JSON.stringify(Buffer.from(value, encoding).toString('base64'));
  const text = kind === 'Secret' ? 'base64' : 'utf8';
  return new Map([
    ...Object.entries(data).map(([key, value]) => [key, base64(value, text)] as const),
    ...Object.entries(binaryData).map(([key, value]) => [key, base64(value, 'base64')] as const),
  ]);
}

function textForm(kind: Kind, source: SourceData): Entries {
  if (kind === 'Secret') return bytesForm(kind, source);
  return new Map(Object.entries(source.data ?? {}).map(([key, value]) => [key, goJson(value)]));
}

/** Encodes a string as Go does: safe within HTML, and with these two control characters as numbers. */
function goJson(value: string): string {
  const short: Readonly<Record<string, string>> = { '\\b': String.raw`\u0008`, '\\f': String.raw`\u000c` };
  return JSON.stringify(value)
    .replaceAll(/\\./g, (escape) => short[escape] ?? escape)
    .replaceAll(/[<>&\u2028\u2029]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
