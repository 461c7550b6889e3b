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
} from '../testing/decisions.ts';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { decideReload, type DecisionInput } from './decision.ts';

type Cases = Readonly<Record<string, readonly [DecisionInput, Reason]>>;

/** What a reason of the rules means for the reload. */
const MEANS: Partial<Record<Reason, { reload: boolean; auto: boolean }>> = {
  NamedByAnnotation: { reload: true, auto: false },
  SearchMatch: { reload: true, auto: true },
  AutoReload: { reload: true, auto: true },
  AutoReloadAll: { reload: true, auto: true },
};
const NO = { reload: false, auto: false };

function decides(cases: Cases): void {
  it.each(Object.entries(cases))('%s', (_, [input, reason]) => {
    const decision = decideReload(input);
    expect({ reason: decision.reason, reload: decision.reload, auto: decision.auto }).toEqual({
      reason,
      ...(MEANS[reason] ?? NO),
    });
  });
}

const named = workloadSays({ 'configmap/reload': 'app-config' });
const all = settings({ autoReloadAll: true });

describe('1. ignored kinds of workload', () => {
  decides({
    'a Job is left alone when jobs are ignored': [
      decisionInput(named, workloadOfKind('Job'), settings({ ignoredWorkloadTypes: ['jobs'] })),
      'WorkloadKindIgnored',
    ],
    'a CronJob is left alone when cronjobs are ignored': [
      decisionInput(named, workloadOfKind('CronJob'), settings({ ignoredWorkloadTypes: ['cronjobs'] })),
      'WorkloadKindIgnored',
    ],
    'a Job reloads when only cronjobs are ignored': [
      decisionInput(named, workloadOfKind('Job'), settings({ ignoredWorkloadTypes: ['cronjobs'] })),
      'NamedByAnnotation',
    ],
    'both may be ignored': [
      decisionInput(
        named,
        workloadOfKind('CronJob'),
        settings({ ignoredWorkloadTypes: ['jobs', 'cronjobs'] }),
      ),
      'WorkloadKindIgnored',
    ],
    'a Deployment is never ignored': [
      decisionInput(named, settings({ ignoredWorkloadTypes: ['jobs', 'cronjobs'] })),
      'NamedByAnnotation',
    ],
    'an entry that is no type disables the whole list': [
      decisionInput(named, workloadOfKind('Job'), settings({ ignoredWorkloadTypes: ['jobs', 'foo'] })),
      'NamedByAnnotation',
    ],
    'the types are case-sensitive': [
      decisionInput(named, workloadOfKind('Job'), settings({ ignoredWorkloadTypes: ['Jobs'] })),
      'NamedByAnnotation',
    ],
    'a kind is no type': [
      decisionInput(named, workloadOfKind('Job'), settings({ ignoredWorkloadTypes: ['Job'] })),
      'NamedByAnnotation',
    ],
    'it comes before an ignored source': [
      decisionInput(
        sourceSays({ '/ignore': 'true' }),
        workloadOfKind('Job'),
        settings({ ignoredWorkloadTypes: ['jobs'] }),
      ),
      'WorkloadKindIgnored',
    ],
  });
});

describe('1a. workloads that are not to be reloaded as they are', () => {
  decides({
    'a finished Job is left alone': [decisionInput(named, leftAlone('JobFinished')), 'JobFinished'],
    'a finished Job reloads when such are to be recreated': [
      decisionInput(named, leftAlone('JobFinished'), settings({ recreateFinishedJobs: true })),
      'NamedByAnnotation',
    ],
    'a Job of a CronJob is left alone, also then': [
      decisionInput(named, leftAlone('JobOfCronJob'), settings({ recreateFinishedJobs: true })),
      'JobOfCronJob',
    ],
    'a pending Job is left alone, also with --auto-reload-all': [
      decisionInput(leftAlone('JobTwin'), all),
      'JobTwin',
    ],
    'it comes before an ignored source': [
      decisionInput(sourceSays({ '/ignore': 'true' }), leftAlone('JobFinished')),
      'JobFinished',
    ],
  });
});

describe('1b. ignored kinds of source', () => {
  decides({
    'a source of an ignored kind is left alone, named or not': [
      decisionInput(named, settings({ ignoredSourceKinds: ['ConfigMap'] })),
      'SourceTypeIgnored',
    ],
    'a source of another kind reloads': [
      decisionInput(named, settings({ ignoredSourceKinds: ['Secret'] })),
      'NamedByAnnotation',
    ],
  });
});

describe('2. an ignored source', () => {
  decides({
    'ignore "true" on the source beats its name': [
      decisionInput(named, sourceSays({ '/ignore': 'true' })),
      'SourceIgnored',
    ],
    'ignore "true" on the source beats auto': [
      decisionInput(workloadSays({ '/auto': 'true' }), sourceSays({ '/ignore': 'true' })),
      'SourceIgnored',
    ],
    'ignore "true" on the source beats --auto-reload-all': [
      decisionInput(all, sourceSays({ '/ignore': 'true' })),
      'SourceIgnored',
    ],
    'ignore "True" is not "true"': [
      decisionInput(named, sourceSays({ '/ignore': 'True' })),
      'NamedByAnnotation',
    ],
    'ignore "1" is not "true"': [decisionInput(named, sourceSays({ '/ignore': '1' })), 'NamedByAnnotation'],
    'ignore on a workload has no effect': [
      decisionInput(workloadSays({ '/ignore': 'true', '/auto': 'true' })),
      'AutoReload',
    ],
    'it comes before an exclusion': [
      decisionInput(
        sourceSays({ '/ignore': 'true' }),
        workloadSays({ 'configmaps.exclude/reload': 'app-config' }),
      ),
      'SourceIgnored',
    ],
  });
});

describe('3. and 4. where the annotations of the workload are read', () => {
  decides({
    'without any of the four on the metadata, named counts on the pod template': [
      decisionInput(podTemplateSays({ 'configmap/reload': 'app-config' })),
      'NamedByAnnotation',
    ],
    'without any of the four on the metadata, auto counts on the pod template': [
      decisionInput(podTemplateSays({ '/auto': 'true' })),
      'AutoReload',
    ],
    'without any of the four on the metadata, auto for the kind counts on the pod template': [
      decisionInput(podTemplateSays({ 'configmap/auto': 'true' })),
      'AutoReload',
    ],
    'without any of the four on the metadata, search counts on the pod template': [
      decisionInput(podTemplateSays({ '/search': 'true' }), sourceSays({ '/match': 'true' })),
      'SearchMatch',
    ],
    'an auto on the metadata hides the pod template, whatever its value': [
      decisionInput(
        workloadSays({ '/auto': 'false' }),
        podTemplateSays({ 'configmap/reload': 'app-config' }),
      ),
      'NotAnnotated',
    ],
    'an empty auto on the metadata hides the pod template too': [
      decisionInput(workloadSays({ '/auto': '' }), podTemplateSays({ '/auto': 'true' })),
      'NotAnnotated',
    ],
    'an auto for the kind on the metadata hides the pod template': [
      decisionInput(workloadSays({ 'configmap/auto': 'false' }), podTemplateSays({ '/auto': 'true' })),
      'NotAnnotated',
    ],
    'a search on the metadata hides the pod template': [
      decisionInput(workloadSays({ '/search': 'false' }), podTemplateSays({ '/auto': 'true' })),
      'NotAnnotated',
    ],
    'a named list on the metadata hides the pod template': [
      decisionInput(workloadSays({ 'configmap/reload': 'other' }), podTemplateSays({ '/auto': 'true' })),
      'NotAnnotated',
    ],
    'the two are never merged: search on one and named on the other': [
      decisionInput(
        workloadSays({ '/search': 'true' }),
        podTemplateSays({ 'configmap/reload': 'app-config' }),
      ),
      'NotAnnotated',
    ],
    'a named list for Secrets does not hide the pod template from ConfigMaps': [
      decisionInput(
        workloadSays({ 'secret/reload': 'app-config' }),
        podTemplateSays({ 'configmap/auto': 'true' }),
      ),
      'AutoReload',
    ],
    'a named list for Secrets hides the pod template from Secrets': [
      decisionInput(
        secret('other'),
        workloadSays({ 'secret/reload': 'app-config' }),
        podTemplateSays({ 'secret/auto': 'true' }),
      ),
      'NotAnnotated',
    ],
    'an auto for Secrets does not hide the pod template from ConfigMaps': [
      decisionInput(
        workloadSays({ 'secret/auto': 'true' }),
        podTemplateSays({ 'configmap/reload': 'app-config' }),
      ),
      'NamedByAnnotation',
    ],
    'an exclusion on the metadata does not hide the pod template': [
      decisionInput(
        workloadSays({ 'configmaps.exclude/reload': 'other' }),
        podTemplateSays({ '/auto': 'true' }),
      ),
      'AutoReload',
    ],
    'an annotation of someone else does not hide the pod template': [
      decisionInput(workloadSays({ 'unrelated/x': '1' }), podTemplateSays({ '/auto': 'true' })),
      'AutoReload',
    ],
    'match on a workload has no effect': [
      decisionInput(workloadSays({ '/search': 'true', '/match': 'true' })),
      'NotAnnotated',
    ],
  });
});

describe('5. excluded sources', () => {
  const exclude = (value: string, key = 'configmaps.exclude/reload') =>
    workloadSays({ [key]: value, '/auto': 'true' });
  decides({
    'an exact name is excluded from auto': [decisionInput(exclude('app-config')), 'SourceExcluded'],
    'an exact name is excluded from --auto-reload-all': [
      decisionInput(all, workloadSays({ 'configmaps.exclude/reload': 'app-config' })),
      'SourceExcluded',
    ],
    'an exact name is excluded though the workload names it': [
      decisionInput(
        workloadSays({ 'configmap/reload': 'app-config', 'configmaps.exclude/reload': 'app-config' }),
      ),
      'SourceExcluded',
    ],
    'an exact name is excluded from search': [
      decisionInput(
        workloadSays({ '/search': 'true', 'configmaps.exclude/reload': 'app-config' }),
        sourceSays({ '/match': 'true' }),
      ),
      'SourceExcluded',
    ],
    'each name of the list is trimmed': [decisionInput(exclude('other ,  app-config ,x')), 'SourceExcluded'],
    'a pattern excludes nothing': [decisionInput(exclude('app-.*')), 'AutoReload'],
    'part of a name excludes nothing': [decisionInput(exclude('app')), 'AutoReload'],
    'an empty list excludes nothing': [decisionInput(exclude('')), 'AutoReload'],
    'an empty list does not exclude an empty name': [
      decisionInput(configMap(''), exclude('')),
      'NamedByAnnotation',
    ],
    'the list for Secrets excludes no ConfigMap': [
      decisionInput(exclude('app-config', 'secrets.exclude/reload')),
      'AutoReload',
    ],
    'the list for Secrets excludes a Secret': [
      decisionInput(secret('db'), exclude('db', 'secrets.exclude/reload')),
      'SourceExcluded',
    ],
    'the list for SecretProviderClasses excludes one of them': [
      decisionInput(
        source('SecretProviderClass', 'db'),
        exclude('db', 'secretproviderclasses.exclude/reload'),
      ),
      'SourceExcluded',
    ],
    'the singular key excludes nothing': [
      decisionInput(exclude('app-config', 'configmap.exclude/reload')),
      'AutoReload',
    ],
    'a list on the pod template excludes nothing, even where the rest is read there': [
      decisionInput(podTemplateSays({ '/auto': 'true', 'configmaps.exclude/reload': 'app-config' })),
      'AutoReload',
    ],
    'a list on the metadata excludes also where the rest is read on the pod template': [
      decisionInput(
        workloadSays({ 'configmaps.exclude/reload': 'app-config' }),
        podTemplateSays({ '/auto': 'true' }),
      ),
      'SourceExcluded',
    ],
  });
});

describe('6. sources named by pattern', () => {
  const naming = (value: string, key = 'configmap/reload') => workloadSays({ [key]: value });
  decides({
    'an exact name': [decisionInput(naming('app-config')), 'NamedByAnnotation'],
    'another name': [decisionInput(naming('other')), 'NotAnnotated'],
    'any entry of a comma list, trimmed': [decisionInput(naming('a, app-config ,b')), 'NamedByAnnotation'],
    'a pattern': [decisionInput(naming('app-.*')), 'NamedByAnnotation'],
    'a pattern has to match the whole name': [decisionInput(naming('app')), 'NotAnnotated'],
    'patterns are case-sensitive': [decisionInput(naming('App-Config')), 'NotAnnotated'],
    'a dot is any character': [decisionInput(naming('app.config')), 'NamedByAnnotation'],
    'alternatives in a group': [decisionInput(naming('(app|web)-config')), 'NamedByAnnotation'],
    'alternatives without a group: the first is only anchored at the start': [
      decisionInput(configMap('abc'), naming('a|b')),
      'NamedByAnnotation',
    ],
    'alternatives without a group: the last is only anchored at the end': [
      decisionInput(configMap('xxb'), naming('a|b')),
      'NamedByAnnotation',
    ],
    'alternatives without a group still exclude something': [
      decisionInput(configMap('xax'), naming('a|b')),
      'NotAnnotated',
    ],
    'a comma inside a pattern splits it': [decisionInput(configMap('xx'), naming('x{1,2}')), 'NotAnnotated'],
    'an unreadable pattern is passed over': [decisionInput(naming('[,app-config')), 'NamedByAnnotation'],
    'an unreadable pattern alone asks for nothing': [decisionInput(naming('[')), 'InvalidPattern'],
    'an unreadable pattern does not keep auto from deciding': [
      decisionInput(workloadSays({ 'configmap/reload': '[', '/auto': 'true' })),
      'AutoReload',
    ],
    'a list for Secrets names no ConfigMap': [
      decisionInput(naming('app-config', 'secret/reload')),
      'NotAnnotated',
    ],
    'a list for Secrets names a Secret': [
      decisionInput(secret('db'), naming('db', 'secret/reload')),
      'NamedByAnnotation',
    ],
    'a list for SecretProviderClasses names one of them': [
      decisionInput(source('SecretProviderClass', 'db'), naming('db', 'secretproviderclass/reload')),
      'NamedByAnnotation',
    ],
    'a name comes before search': [
      decisionInput(
        workloadSays({ 'configmap/reload': 'app-config', '/search': 'true' }),
        sourceSays({ '/match': 'true' }),
      ),
      'NamedByAnnotation',
    ],
    'a name comes before auto, so no reference is needed': [
      decisionInput(workloadSays({ 'configmap/reload': 'app-config', '/auto': 'true' })),
      'NamedByAnnotation',
    ],
    'auto "false" does not disable a name': [
      decisionInput(workloadSays({ 'configmap/reload': 'app-config', '/auto': 'false' })),
      'NamedByAnnotation',
    ],
    'without the annotation, the empty name is named': [decisionInput(configMap('')), 'NamedByAnnotation'],
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
    'both "true"': [decisionInput(searching, sourceSays({ '/match': 'true' })), 'SearchMatch'],
    'search without match': [decisionInput(searching), 'NotAnnotated'],
    'match without search': [decisionInput(sourceSays({ '/match': 'true' })), 'NotAnnotated'],
    'search "True" is not "true"': [
      decisionInput(workloadSays({ '/search': 'True' }), sourceSays({ '/match': 'true' })),
      'NotAnnotated',
    ],
    'search "1" is not "true"': [
      decisionInput(workloadSays({ '/search': '1' }), sourceSays({ '/match': 'true' })),
      'NotAnnotated',
    ],
    'match "True" is not "true"': [
      decisionInput(searching, sourceSays({ '/match': 'True' })),
      'NotAnnotated',
    ],
    'auto "false" does not disable search': [
      decisionInput(workloadSays({ '/search': 'true', '/auto': 'false' }), sourceSays({ '/match': 'true' })),
      'SearchMatch',
    ],
    'auto does not take precedence over search: they are a union, and search is asked first': [
      decisionInput(workloadSays({ '/search': 'true', '/auto': 'true' }), sourceSays({ '/match': 'true' })),
      'SearchMatch',
    ],
    'a search that finds no match leaves it to auto': [
      decisionInput(workloadSays({ '/search': 'true', '/auto': 'true' })),
      'AutoReload',
    ],
  });
});

describe('8. auto', () => {
  for (const on of ['1', 't', 'T', 'TRUE', 'true', 'True']) {
    decides({ [`auto "${on}" is on`]: [decisionInput(workloadSays({ '/auto': on })), 'AutoReload'] });
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
    decides({ [`auto "${off}" is off`]: [decisionInput(workloadSays({ '/auto': off })), 'NotAnnotated'] });
  }
  decides({
    'auto for ConfigMaps counts for a ConfigMap': [
      decisionInput(workloadSays({ 'configmap/auto': 'true' })),
      'AutoReload',
    ],
    'auto for Secrets counts for a Secret': [
      decisionInput(secret('db'), workloadSays({ 'secret/auto': 'true' })),
      'AutoReload',
    ],
    'auto for SecretProviderClasses counts for one of them': [
      decisionInput(
        source('SecretProviderClass', 'db'),
        workloadSays({ 'secretproviderclass/auto': 'true' }),
      ),
      'AutoReload',
    ],
    'auto for Secrets does not count for a ConfigMap': [
      decisionInput(workloadSays({ 'secret/auto': 'true' })),
      'NotAnnotated',
    ],
    'auto for ConfigMaps does not count for a Secret': [
      decisionInput(secret('db'), workloadSays({ 'configmap/auto': 'true' })),
      'NotAnnotated',
    ],
    'auto "false" does not take back auto for the kind': [
      decisionInput(workloadSays({ '/auto': 'false', 'configmap/auto': 'true' })),
      'AutoReload',
    ],
    'auto for the kind "false" does not take back auto': [
      decisionInput(workloadSays({ '/auto': 'true', 'configmap/auto': 'false' })),
      'AutoReload',
    ],
  });
});

describe('9. --auto-reload-all', () => {
  decides({
    'a workload without annotations': [decisionInput(all), 'AutoReloadAll'],
    'a missing value means yes': [decisionInput(all, workloadSays({ '/auto': '' })), 'AutoReloadAll'],
    'auto "false" means no': [decisionInput(all, workloadSays({ '/auto': 'false' })), 'NotAnnotated'],
    'auto for the kind "false" means no': [
      decisionInput(all, workloadSays({ 'configmap/auto': 'false' })),
      'NotAnnotated',
    ],
    'auto for another kind "false" does not mean no': [
      decisionInput(all, workloadSays({ 'secret/auto': 'false' })),
      'AutoReloadAll',
    ],
    'an unreadable value means no': [decisionInput(all, workloadSays({ '/auto': 'yes' })), 'NotAnnotated'],
    'auto "true" is auto as ever': [decisionInput(all, workloadSays({ '/auto': 'true' })), 'AutoReload'],
    'auto "false" on the pod template means no': [
      decisionInput(all, podTemplateSays({ '/auto': 'false' })),
      'NotAnnotated',
    ],
    'an annotation that names another source does not switch it off': [
      decisionInput(all, workloadSays({ 'configmap/reload': 'other' })),
      'AutoReloadAll',
    ],
    'an unreadable pattern does not switch it off': [
      decisionInput(all, workloadSays({ 'configmap/reload': '[' })),
      'AutoReloadAll',
    ],
    'a search that finds no match does not switch it off': [
      decisionInput(all, workloadSays({ '/search': 'true' })),
      'AutoReloadAll',
    ],
  });
});

describe('10. otherwise', () => {
  decides({
    'no annotation, no reload': [decisionInput(), 'NotAnnotated'],
    'every other kind of workload is judged alike': [
      decisionInput(workloadOfKind('Rollout'), named),
      'NamedByAnnotation',
    ],
  });
});

describe('keys of an installation', () => {
  decides({
    'a key is no property that every object has': [
      decisionInput(
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
      ),
      'NamedByAnnotation',
    ],
  });
});
