import { createHash } from 'node:crypto';
import { ADOPTED_LISTS } from './adopted.ts';
import type { SourceName } from '../state/rows.ts';
import type { ObjectMeta, PodTemplate, SourceData } from '../model.ts';

/** On the pod template: one hash over everything that Wave followed for the workload. */
export const WAVE_HASH = 'wave.pusher.com/config-hash';

/** Keys that went into the hash, or all of them. */
type Keys = ReadonlySet<string> | 'all';

/** By source, what of it went into the hash. */
export type WaveChildren = ReadonlyMap<SourceName, Keys>;

/**
 * What Wave's hash is over: volumes, and `envFrom` and `env` of containers that are no init containers; of a single
 * variable and of a projected volume with `items` only those keys; and its lists of extras. Undefined if an extra is
 * of another namespace.
 */
export function waveChildren(workload: {
  metadata: ObjectMeta;
  template: PodTemplate;
}): WaveChildren | undefined {
  const children = new Map<SourceName, Keys>();
  for (const [kind, name, keys] of [...usesOf(workload.template), ...extrasOf(workload.metadata)]) {
    if (name.includes('/')) return undefined;
    const source = `${kind}/${name}`;
    children.set(source, union(children.get(source), keys));
  }
  return children;
}

/** Of these, the sources that no init container has in a variable: whose present data the hash proves. */
export function provenByWave(children: WaveChildren, { spec }: PodTemplate): ReadonlySet<SourceName> {
  const unseen = (spec?.initContainers ?? []).flatMap(envUses).map(([kind, name]) => `${kind}/${name}`);
  return new Set([...children.keys()].filter((name) => !unseen.includes(name)));
}

/**
 * Whether Wave would write this very hash for the data, `null` for a source that does not exist. SHA-256, hex, over
 * `{"configMaps":{name:{key:value}},"secrets":{…}}` as Go writes it, keys sorted, values in base64; up to 0.6 those of
 * ConfigMaps as text, and without `binaryData`. All keys of a source that has none: `{}` or `null`.
 */
export function isWaveMark(
  marked: string,
  children: WaveChildren,
  data: ReadonlyMap<SourceName, SourceData | null>,
): boolean {
  const empties = ['{}', 'null'];
  const forms = [bytesForm, textForm].flatMap((form) =>
    empties.flatMap((configMap) => empties.map((secret) => ({ form, ConfigMap: configMap, Secret: secret }))),
  );
  return forms.some((form) => sha256(documentOf(children, data, form)) === marked);
}

type Kind = 'ConfigMap' | 'Secret';
type Use = readonly [Kind, string, Keys];
/** Key and value, the value as JSON. */
type Entries = ReadonlyMap<string, string>;

interface Form extends Readonly<Record<Kind, string>> {
  readonly form: (kind: Kind, data: SourceData) => Entries;
}

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

/** Wave trims nothing: a name with a blank is no source. One of another namespace keeps it. */
function extrasOf({ annotations = {}, namespace }: ObjectMeta): Use[] {
  return (['ConfigMap', 'Secret'] as const).flatMap((kind) =>
    (annotations[ADOPTED_LISTS.wave[kind] ?? ''] ?? '')
      .split(',')
      .map((word) => (word.startsWith(`${namespace}/`) ? word.slice(namespace.length + 1) : word))
      .filter((name) => /^[a-z0-9./-]+$/.test(name))
      .flatMap((name) => use(kind, name, 'all')),
  );
}

function union(one: Keys | undefined, other: Keys): Keys {
  if (one === undefined) return other;
  return one === 'all' || other === 'all' ? 'all' : new Set([...one, ...other]);
}

function documentOf(
  children: WaveChildren,
  data: ReadonlyMap<SourceName, SourceData | null>,
  form: Form,
): string {
  const section = (kind: Kind): string => {
    const names = [...children.keys()].filter((name) => name.startsWith(`${kind}/`) && data.get(name));
    const objects = names.sort().map((name) => {
      const text = objectOf(form.form(kind, data.get(name) ?? {}), children.get(name) ?? 'all', form[kind]);
      return `${JSON.stringify(name.slice(kind.length + 1))}:${text}`;
    });
    return `{${objects.join(',')}}`;
  };
  return `{"configMaps":${section('ConfigMap')},"secrets":${section('Secret')}}`;
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

/** A string as Go's encoder writes it: safe within HTML, and these two control characters by their number. */
function goJson(value: string): string {
  const short: Readonly<Record<string, string>> = { '\\b': String.raw`\u0008`, '\\f': String.raw`\u000c` };
  return JSON.stringify(value)
    .replaceAll(/\\./g, (escape) => short[escape] ?? escape)
    .replaceAll(/[<>&\u2028\u2029]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
