import { describe, expect, it } from 'vitest';

import type { Reason } from '../reasons.ts';
import {
  leftAlone,
  configMap,
  decisionInput,
  podTemplateSays,
  secret,
  settings,
  source,
  sourceSays,
  workloadOfKind,
  workloadSays,
  type Step,
} from '../testing/decisions.ts';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { decideReload } from './decision.ts';

type Cases = Readonly<Record<string, readonly [Reason, ...Step[]]>>;

/** What a reason of the rules means for the reload. */
const MEANS: Partial<Record<Reason, { reload: boolean; auto: boolean }>> = {
  NamedByAnnotation: { reload: true, auto: false },
  SearchMatch: { reload: true, auto: true },
  AutoReload: { reload: true, auto: true },
  AutoReloadAll: { reload: true, auto: true },
};
const NO = { reload: false, auto: false };

function decides(cases: Cases): void {
  it.each(Object.entries(cases))('%s', (_, [reason, ...steps]) => {
    const decision = decideReload(decisionInput(...steps));
    expect({ reason: decision.reason, reload: decision.reload, auto: decision.auto }).toEqual({
      reason,
      ...(MEANS[reason] ?? NO),
    });
  });
}

const named = workloadSays({ 'configmap/reload': 'app-config' });
const all = settings({ autoReloadAll: true });
const ignoring = (...types: string[]) => settings({ ignoredWorkloadTypes: types });

describe('1. ignored kinds of workload', () => {
  decides({
    'a Job is left alone when jobs are ignored': [
      'WorkloadKindIgnored',
      named,
      workloadOfKind('Job'),
      ignoring('jobs'),
    ],
    'a CronJob is left alone when cronjobs are ignored': [
      'WorkloadKindIgnored',
      named,
      workloadOfKind('CronJob'),
      ignoring('cronjobs'),
    ],
    'a Job reloads when only cronjobs are ignored': [
      'NamedByAnnotation',
      named,
      workloadOfKind('Job'),
      ignoring('cronjobs'),
    ],
    'both may be ignored': [
      'WorkloadKindIgnored',
      named,
      workloadOfKind('CronJob'),
      ignoring('jobs', 'cronjobs'),
    ],
    'a Deployment is never ignored': ['NamedByAnnotation', named, ignoring('jobs', 'cronjobs')],
    'an entry that is no type disables the whole list': [
      'NamedByAnnotation',
      named,
      workloadOfKind('Job'),
      ignoring('jobs', 'foo'),
    ],
    'the types are case-sensitive': ['NamedByAnnotation', named, workloadOfKind('Job'), ignoring('Jobs')],
    'a kind is no type': ['NamedByAnnotation', named, workloadOfKind('Job'), ignoring('Job')],
    'it comes before an ignored source': [
      'WorkloadKindIgnored',
      sourceSays({ '/ignore': 'true' }),
      workloadOfKind('Job'),
      ignoring('jobs'),
    ],
  });
});

describe('1a. workloads that are not to be reloaded as they are', () => {
  decides({
    'a finished Job is left alone': ['JobFinished', named, leftAlone('JobFinished')],
    'a finished Job reloads when such are to be recreated': [
      'NamedByAnnotation',
      named,
      leftAlone('JobFinished'),
      settings({ recreateFinishedJobs: true }),
    ],
    'a Job of a CronJob is left alone, also then': [
      'JobOfCronJob',
      named,
      leftAlone('JobOfCronJob'),
      settings({ recreateFinishedJobs: true }),
    ],
    'a pending Job is left alone, also with --auto-reload-all': ['JobTwin', leftAlone('JobTwin'), all],
    'it comes before an ignored source': [
      'JobFinished',
      sourceSays({ '/ignore': 'true' }),
      leftAlone('JobFinished'),
    ],
  });
});

describe('1b. ignored kinds of source', () => {
  decides({
    'a source of an ignored kind is left alone, named or not': [
      'SourceTypeIgnored',
      named,
      settings({ ignoredSourceKinds: ['ConfigMap'] }),
    ],
    'a source of another kind reloads': [
      'NamedByAnnotation',
      named,
      settings({ ignoredSourceKinds: ['Secret'] }),
    ],
  });
});

describe('2. an ignored source', () => {
  decides({
    'ignore "true" on the source beats its name': ['SourceIgnored', named, sourceSays({ '/ignore': 'true' })],
    'ignore "true" on the source beats auto': [
      'SourceIgnored',
      workloadSays({ '/auto': 'true' }),
      sourceSays({ '/ignore': 'true' }),
    ],
    'ignore "true" on the source beats --auto-reload-all': [
      'SourceIgnored',
      all,
      sourceSays({ '/ignore': 'true' }),
    ],
    'ignore "True" is not "true"': ['NamedByAnnotation', named, sourceSays({ '/ignore': 'True' })],
    'ignore "1" is not "true"': ['NamedByAnnotation', named, sourceSays({ '/ignore': '1' })],
    'ignore on a workload has no effect': [
      'AutoReload',
      workloadSays({ '/ignore': 'true', '/auto': 'true' }),
    ],
    'it comes before an exclusion': [
      'SourceIgnored',
      sourceSays({ '/ignore': 'true' }),
      workloadSays({ 'configmaps.exclude/reload': 'app-config' }),
    ],
  });
});

describe('3. and 4. where the annotations of the workload are read', () => {
  decides({
    'without any of the four on the metadata, named counts on the pod template': [
      'NamedByAnnotation',
      podTemplateSays({ 'configmap/reload': 'app-config' }),
    ],
    'without any of the four on the metadata, auto counts on the pod template': [
      'AutoReload',
      podTemplateSays({ '/auto': 'true' }),
    ],
    'without any of the four on the metadata, auto for the kind counts on the pod template': [
      'AutoReload',
      podTemplateSays({ 'configmap/auto': 'true' }),
    ],
    'without any of the four on the metadata, search counts on the pod template': [
      'SearchMatch',
      podTemplateSays({ '/search': 'true' }),
      sourceSays({ '/match': 'true' }),
    ],
    'an auto on the metadata hides the pod template, whatever its value': [
      'NotAnnotated',
      workloadSays({ '/auto': 'false' }),
      podTemplateSays({ 'configmap/reload': 'app-config' }),
    ],
    'an empty auto on the metadata hides the pod template too': [
      'NotAnnotated',
      workloadSays({ '/auto': '' }),
      podTemplateSays({ '/auto': 'true' }),
    ],
    'an auto for the kind on the metadata hides the pod template': [
      'NotAnnotated',
      workloadSays({ 'configmap/auto': 'false' }),
      podTemplateSays({ '/auto': 'true' }),
    ],
    'a search on the metadata hides the pod template': [
      'NotAnnotated',
      workloadSays({ '/search': 'false' }),
      podTemplateSays({ '/auto': 'true' }),
    ],
    'a named list on the metadata hides the pod template': [
      'NotAnnotated',
      workloadSays({ 'configmap/reload': 'other' }),
      podTemplateSays({ '/auto': 'true' }),
    ],
    'the two are never merged: search on one and named on the other': [
      'NotAnnotated',
      workloadSays({ '/search': 'true' }),
      podTemplateSays({ 'configmap/reload': 'app-config' }),
    ],
    'a named list for Secrets does not hide the pod template from ConfigMaps': [
      'AutoReload',
      workloadSays({ 'secret/reload': 'app-config' }),
      podTemplateSays({ 'configmap/auto': 'true' }),
    ],
    'a named list for Secrets hides the pod template from Secrets': [
      'NotAnnotated',
      secret('other'),
      workloadSays({ 'secret/reload': 'app-config' }),
      podTemplateSays({ 'secret/auto': 'true' }),
    ],
    'an auto for Secrets does not hide the pod template from ConfigMaps': [
      'NamedByAnnotation',
      workloadSays({ 'secret/auto': 'true' }),
      podTemplateSays({ 'configmap/reload': 'app-config' }),
    ],
    'an exclusion on the metadata does not hide the pod template': [
      'AutoReload',
      workloadSays({ 'configmaps.exclude/reload': 'other' }),
      podTemplateSays({ '/auto': 'true' }),
    ],
    'an annotation of someone else does not hide the pod template': [
      'AutoReload',
      workloadSays({ 'unrelated/x': '1' }),
      podTemplateSays({ '/auto': 'true' }),
    ],
    'match on a workload has no effect': [
      'NotAnnotated',
      workloadSays({ '/search': 'true', '/match': 'true' }),
    ],
  });
});

describe('5. excluded sources', () => {
  const exclude = (value: string, key = 'configmaps.exclude/reload') =>
    workloadSays({ [key]: value, '/auto': 'true' });
  decides({
    'an exact name is excluded from auto': ['SourceExcluded', exclude('app-config')],
    'an exact name is excluded from --auto-reload-all': [
      'SourceExcluded',
      all,
      workloadSays({ 'configmaps.exclude/reload': 'app-config' }),
    ],
    'an exact name is excluded though the workload names it': [
      'SourceExcluded',
      workloadSays({ 'configmap/reload': 'app-config', 'configmaps.exclude/reload': 'app-config' }),
    ],
    'an exact name is excluded from search': [
      'SourceExcluded',
      workloadSays({ '/search': 'true', 'configmaps.exclude/reload': 'app-config' }),
      sourceSays({ '/match': 'true' }),
    ],
    'each name of the list is trimmed': ['SourceExcluded', exclude('other ,  app-config ,x')],
    'a pattern excludes nothing': ['AutoReload', exclude('app-.*')],
    'part of a name excludes nothing': ['AutoReload', exclude('app')],
    'an empty list excludes nothing': ['AutoReload', exclude('')],
    'an empty list does not exclude an empty name': ['NamedByAnnotation', configMap(''), exclude('')],
    'the list for Secrets excludes no ConfigMap': [
      'AutoReload',
      exclude('app-config', 'secrets.exclude/reload'),
    ],
    'the list for Secrets excludes a Secret': [
      'SourceExcluded',
      secret('db'),
      exclude('db', 'secrets.exclude/reload'),
    ],
    'the list for SecretProviderClasses excludes one of them': [
      'SourceExcluded',
      source('SecretProviderClass', 'db'),
      exclude('db', 'secretproviderclasses.exclude/reload'),
    ],
    'the singular key excludes nothing': ['AutoReload', exclude('app-config', 'configmap.exclude/reload')],
    'a list on the pod template excludes nothing, even where the rest is read there': [
      'AutoReload',
      podTemplateSays({ '/auto': 'true', 'configmaps.exclude/reload': 'app-config' }),
    ],
    'a list on the metadata excludes also where the rest is read on the pod template': [
      'SourceExcluded',
      workloadSays({ 'configmaps.exclude/reload': 'app-config' }),
      podTemplateSays({ '/auto': 'true' }),
    ],
  });
});

describe('6. sources named by pattern', () => {
  const naming = (value: string, key = 'configmap/reload') => workloadSays({ [key]: value });
  decides({
    'an exact name': ['NamedByAnnotation', naming('app-config')],
    'another name': ['NotAnnotated', naming('other')],
    'any entry of a comma list, trimmed': ['NamedByAnnotation', naming('a, app-config ,b')],
    'a pattern': ['NamedByAnnotation', naming('app-.*')],
    'a pattern has to match the whole name': ['NotAnnotated', naming('app')],
    'patterns are case-sensitive': ['NotAnnotated', naming('App-Config')],
    'a dot is any character': ['NamedByAnnotation', naming('app.config')],
    'alternatives in a group': ['NamedByAnnotation', naming('(app|web)-config')],
    'alternatives without a group: the first is only anchored at the start': [
      'NamedByAnnotation',
      configMap('abc'),
      naming('a|b'),
    ],
    'alternatives without a group: the last is only anchored at the end': [
      'NamedByAnnotation',
      configMap('xxb'),
      naming('a|b'),
    ],
    'alternatives without a group still exclude something': ['NotAnnotated', configMap('xax'), naming('a|b')],
    'a comma inside a pattern splits it': ['NotAnnotated', configMap('xx'), naming('x{1,2}')],
    'an unreadable pattern is passed over': ['NamedByAnnotation', naming('[,app-config')],
    'an unreadable pattern alone asks for nothing': ['InvalidPattern', naming('[')],
    'an unreadable pattern does not keep auto from deciding': [
      'AutoReload',
      workloadSays({ 'configmap/reload': '[', '/auto': 'true' }),
    ],
    'a list for Secrets names no ConfigMap': ['NotAnnotated', naming('app-config', 'secret/reload')],
    'a list for Secrets names a Secret': ['NamedByAnnotation', secret('db'), naming('db', 'secret/reload')],
    'a list for SecretProviderClasses names one of them': [
      'NamedByAnnotation',
      source('SecretProviderClass', 'db'),
      naming('db', 'secretproviderclass/reload'),
    ],
    'a name comes before search': [
      'NamedByAnnotation',
      workloadSays({ 'configmap/reload': 'app-config', '/search': 'true' }),
      sourceSays({ '/match': 'true' }),
    ],
    'a name comes before auto, so no reference is needed': [
      'NamedByAnnotation',
      workloadSays({ 'configmap/reload': 'app-config', '/auto': 'true' }),
    ],
    'auto "false" does not disable a name': [
      'NamedByAnnotation',
      workloadSays({ 'configmap/reload': 'app-config', '/auto': 'false' }),
    ],
    'without the annotation, the empty name is named': ['NamedByAnnotation', configMap('')],
  });

  it('counts the unreadable patterns before the one that matches', () => {
    const { patternErrors } = decideReload(decisionInput(naming('[, (, app-config, [')));
    expect(patternErrors.map(({ pattern }) => pattern)).toEqual(['[', '(']);
  });

  it('counts every unreadable pattern if none matches, also the same one twice', () => {
    const { patternErrors } = decideReload(decisionInput(naming('[,[,other')));
    expect(patternErrors.map(({ pattern }) => pattern)).toEqual(['[', '[']);
  });

  it('reads no pattern once the source is excluded', () => {
    const input = decisionInput(
      workloadSays({ 'configmap/reload': '[', 'configmaps.exclude/reload': 'app-config' }),
    );
    expect(decideReload(input).patternErrors).toEqual([]);
  });

  it('says which pattern is unreadable, and why', () => {
    expect(decideReload(decisionInput(naming('['))).detail).toBe(
      '"[" in configmap.reloader.stakater.com/reload of the workload: error parsing regexp: missing closing ]: `[$`',
    );
  });
});

describe('7. search and match', () => {
  const searching = workloadSays({ '/search': 'true' });
  decides({
    'both "true"': ['SearchMatch', searching, sourceSays({ '/match': 'true' })],
    'search without match': ['NotAnnotated', searching],
    'match without search': ['NotAnnotated', sourceSays({ '/match': 'true' })],
    'search "True" is not "true"': [
      'NotAnnotated',
      workloadSays({ '/search': 'True' }),
      sourceSays({ '/match': 'true' }),
    ],
    'search "1" is not "true"': [
      'NotAnnotated',
      workloadSays({ '/search': '1' }),
      sourceSays({ '/match': 'true' }),
    ],
    'match "True" is not "true"': ['NotAnnotated', searching, sourceSays({ '/match': 'True' })],
    'auto "false" does not disable search': [
      'SearchMatch',
      workloadSays({ '/search': 'true', '/auto': 'false' }),
      sourceSays({ '/match': 'true' }),
    ],
    'auto does not take precedence over search: they are a union, and search is asked first': [
      'SearchMatch',
      workloadSays({ '/search': 'true', '/auto': 'true' }),
      sourceSays({ '/match': 'true' }),
    ],
    'a search that finds no match leaves it to auto': [
      'AutoReload',
      workloadSays({ '/search': 'true', '/auto': 'true' }),
    ],
  });
});

describe('8. auto', () => {
  for (const on of ['1', 't', 'T', 'TRUE', 'true', 'True']) {
    decides({ [`auto "${on}" is on`]: ['AutoReload', workloadSays({ '/auto': on })] });
  }
  for (const off of [
    '0',
    'f',
    'F',
    'FALSE',
    'false',
    'False',
    '',
    'yes',
    'on',
    'tRUE',
    ' true',
    'true ',
    '01',
  ]) {
    decides({ [`auto "${off}" is off`]: ['NotAnnotated', workloadSays({ '/auto': off })] });
  }
  decides({
    'auto for ConfigMaps counts for a ConfigMap': ['AutoReload', workloadSays({ 'configmap/auto': 'true' })],
    'auto for Secrets counts for a Secret': [
      'AutoReload',
      secret('db'),
      workloadSays({ 'secret/auto': 'true' }),
    ],
    'auto for SecretProviderClasses counts for one of them': [
      'AutoReload',
      source('SecretProviderClass', 'db'),
      workloadSays({ 'secretproviderclass/auto': 'true' }),
    ],
    'auto for Secrets does not count for a ConfigMap': [
      'NotAnnotated',
      workloadSays({ 'secret/auto': 'true' }),
    ],
    'auto for ConfigMaps does not count for a Secret': [
      'NotAnnotated',
      secret('db'),
      workloadSays({ 'configmap/auto': 'true' }),
    ],
    'auto "false" does not take back auto for the kind': [
      'AutoReload',
      workloadSays({ '/auto': 'false', 'configmap/auto': 'true' }),
    ],
    'auto for the kind "false" does not take back auto': [
      'AutoReload',
      workloadSays({ '/auto': 'true', 'configmap/auto': 'false' }),
    ],
  });
});

describe('9. --auto-reload-all', () => {
  decides({
    'a workload without annotations': ['AutoReloadAll', all],
    'a missing value means yes': ['AutoReloadAll', all, workloadSays({ '/auto': '' })],
    'auto "false" means no': ['NotAnnotated', all, workloadSays({ '/auto': 'false' })],
    'auto for the kind "false" means no': ['NotAnnotated', all, workloadSays({ 'configmap/auto': 'false' })],
    'auto for another kind "false" does not mean no': [
      'AutoReloadAll',
      all,
      workloadSays({ 'secret/auto': 'false' }),
    ],
    'an unreadable value means no': ['NotAnnotated', all, workloadSays({ '/auto': 'yes' })],
    'auto "true" is auto as ever': ['AutoReload', all, workloadSays({ '/auto': 'true' })],
    'auto "false" on the pod template means no': ['NotAnnotated', all, podTemplateSays({ '/auto': 'false' })],
    'an annotation that names another source does not switch it off': [
      'AutoReloadAll',
      all,
      workloadSays({ 'configmap/reload': 'other' }),
    ],
    'an unreadable pattern does not switch it off': [
      'AutoReloadAll',
      all,
      workloadSays({ 'configmap/reload': '[' }),
    ],
    'a search that finds no match does not switch it off': [
      'AutoReloadAll',
      all,
      workloadSays({ '/search': 'true' }),
    ],
  });
});

describe('10. otherwise', () => {
  decides({
    'no annotation, no reload': ['NotAnnotated'],
    'every other kind of workload is judged alike': ['NamedByAnnotation', workloadOfKind('Rollout'), named],
  });
});

describe('keys of an installation', () => {
  decides({
    'a key is no property that every object has': [
      'NamedByAnnotation',
      settings({
        autoReloadAll: true,
        keys: {
          ...DEFAULT_ANNOTATION_KEYS,
          auto: 'constructor',
          configMapAuto: '__proto__',
          search: 'toString',
        },
      }),
      podTemplateSays({ 'configmap/reload': 'app-config' }),
    ],
  });
});
