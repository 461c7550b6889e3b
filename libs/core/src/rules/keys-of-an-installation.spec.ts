import { expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS, type AnnotationKeys } from '../annotations/annotation-keys.ts';
import type { Reason } from '../reasons.ts';
import { decisionInput, settings, source, sourceSays, workloadSays } from '../testing/decisions.ts';
import { decideReload, type DecisionInput } from './decision.ts';

/** A key that decides, on which object, with what beside it, and the reasons with and without its annotation. */
type KeyRow = readonly [
  name: Exclude<keyof AnnotationKeys, 'adopt' | 'limits'>,
  short: string,
  value: string,
  beside: {
    readonly on?: 'source';
    readonly kind?: DecisionInput['source']['kind'];
    readonly workload?: Readonly<Record<string, string>>;
    readonly source?: Readonly<Record<string, string>>;
  },
  read: Reason,
  unread: Reason,
];

const AUTO = { '/auto': 'true' };
const KEY_ROWS: readonly KeyRow[] = [
  ['auto', '/auto', 'true', {}, 'AutoReload', 'NotAnnotated'],
  ['configMapAuto', 'configmap/auto', 'true', {}, 'AutoReload', 'NotAnnotated'],
  ['secretAuto', 'secret/auto', 'true', { kind: 'Secret' }, 'AutoReload', 'NotAnnotated'],
  [
    'secretProviderClassAuto',
    'secretproviderclass/auto',
    'true',
    { kind: 'SecretProviderClass' },
    'AutoReload',
    'NotAnnotated',
  ],
  ['configMapReload', 'configmap/reload', 'x', {}, 'NamedByAnnotation', 'NotAnnotated'],
  ['secretReload', 'secret/reload', 'x', { kind: 'Secret' }, 'NamedByAnnotation', 'NotAnnotated'],
  [
    'secretProviderClassReload',
    'secretproviderclass/reload',
    'x',
    { kind: 'SecretProviderClass' },
    'NamedByAnnotation',
    'NotAnnotated',
  ],
  ['configMapExclude', 'configmaps.exclude/reload', 'x', { workload: AUTO }, 'SourceExcluded', 'AutoReload'],
  [
    'secretExclude',
    'secrets.exclude/reload',
    'x',
    { kind: 'Secret', workload: AUTO },
    'SourceExcluded',
    'AutoReload',
  ],
  [
    'secretProviderClassExclude',
    'secretproviderclasses.exclude/reload',
    'x',
    { kind: 'SecretProviderClass', workload: AUTO },
    'SourceExcluded',
    'AutoReload',
  ],
  ['search', '/search', 'true', { source: { '/match': 'true' } }, 'SearchMatch', 'NotAnnotated'],
  [
    'match',
    '/match',
    'true',
    { on: 'source', workload: { '/search': 'true' } },
    'SearchMatch',
    'NotAnnotated',
  ],
  ['ignore', '/ignore', 'true', { on: 'source', workload: AUTO }, 'SourceIgnored', 'AutoReload'],
];

/** What is decided where the key is set so, and an annotation of this short name is there. */
function reasonOf([name, , value, beside]: KeyRow, key: string, short: string): Reason {
  const { on = 'workload', kind = 'ConfigMap', workload = {}, source: ofSource = {} } = beside;
  const said = { [short]: value };
  return decideReload(
    decisionInput(
      settings({ keys: { ...DEFAULT_ANNOTATION_KEYS, [name]: key } }),
      source(kind, 'x'),
      workloadSays(on === 'workload' ? { ...workload, ...said } : workload),
      sourceSays(on === 'source' ? { ...ofSource, ...said } : ofSource),
    ),
  ).reason;
}

it.each(KEY_ROWS)('the key %s that was set is read by its rule, and its default no more', (...row) => {
  const [name, short, , , read, unread] = row;
  expect(reasonOf(row, DEFAULT_ANNOTATION_KEYS[name], short)).toBe(read);
  expect(reasonOf(row, 'mine.reloader.stakater.com/x', 'mine/x')).toBe(read);
  expect(reasonOf(row, 'mine.reloader.stakater.com/x', short)).toBe(unread);
});

it.each(KEY_ROWS)('the key %s is switched off if it is set to nothing', (...row) => {
  const [, short, , , , unread] = row;
  expect(reasonOf(row, '', short)).toBe(unread);
});

it('these are all keys, but those of what comes after the decision', () => {
  const others = ['pausePeriod', 'pausedAt', 'rolloutStrategy', 'lastReloadedFrom'];
  const names = [...KEY_ROWS.map(([name]) => name), ...others];
  expect(names.sort()).toEqual(Object.keys(DEFAULT_ANNOTATION_KEYS).sort());
});
