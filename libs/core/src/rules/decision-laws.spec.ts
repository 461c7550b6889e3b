import {
  assert,
  constantFrom,
  dictionary,
  oneof,
  property,
  record,
  string,
  array,
  boolean,
} from 'fast-check';
import { describe, expect, it } from 'vitest';

import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { SOURCE_KINDS } from '../model.ts';
import { REASONS } from '../reasons.ts';
import { decisionInput, podTemplateSays, sourceSays, workloadSays } from '../testing/decisions.ts';
import { decideReload, explainReload } from './decision.ts';

/** Text that users write, text that nobody should, and pieces of patterns in any order. */
const piece = constantFrom(
  'a',
  'b',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '2',
  '9',
  ',',
  '|',
  '*',
  '+',
  '?',
  '\\',
  '\\Q',
  '\\p',
  '^',
  '$',
  '.',
);
const value = oneof(
  constantFrom('true', 'false', '', '1', 'yes', 'a', 'a,b', 'a.*', '['),
  array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
  string({ unit: 'binary' }),
  string(),
);
const annotations = dictionary(
  oneof(constantFrom(...Object.values(DEFAULT_ANNOTATION_KEYS)), string()),
  value,
);
const input = record({
  source: record({
    kind: constantFrom(...SOURCE_KINDS),
    name: oneof(constantFrom('a', 'b'), string()),
    annotations,
  }),
  workload: record({ kind: constantFrom('Deployment', 'Job'), annotations, podAnnotations: annotations }),
  settings: record({
    keys: constantFrom(DEFAULT_ANNOTATION_KEYS),
    autoReloadAll: boolean(),
    ignoredWorkloadTypes: array(oneof(constantFrom('jobs', 'cronjobs'), string()), { maxLength: 2 }),
  }),
});

describe('a decision', () => {
  it('is made whatever the annotations hold, and gives a documented reason', () => {
    assert(
      property(input, (any) => {
        const decision = decideReload(any);
        expect(REASONS).toHaveProperty(decision.reason);
        expect(decision.auto && !decision.reload).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is what the explanation says: the first rule with an opinion', () => {
    assert(
      property(input, (any) => {
        const decision = decideReload(any);
        const steps = explainReload(any);
        const deciding = steps.filter((step) => step.decides);
        expect(deciding).toHaveLength(1);
        expect(deciding).toEqual([steps.find((step) => step.outcome !== 'pass')]);
        expect(deciding[0]).toMatchObject({
          rule: decision.rule,
          outcome: decision.reload ? 'reload' : 'skip',
          reason: decision.reason,
          detail: decision.detail,
        });
      }),
    );
  });
});

describe('an explanation', () => {
  it('gives what every rule says, in the order in which they are asked', () => {
    const steps = explainReload(
      decisionInput(
        sourceSays({ '/ignore': 'true' }),
        workloadSays({ 'configmap/reload': '[', '/auto': 'true' }),
      ),
    );
    expect(steps.map(({ rule, outcome, decides }) => [rule, outcome, decides])).toEqual([
      ['IgnoredWorkloadKind', 'pass', false],
      ['LeftAlone', 'pass', false],
      ['IgnoredSourceKind', 'pass', false],
      ['IgnoredSource', 'skip', true],
      ['ExcludedSource', 'pass', false],
      ['NamedSource', 'pass', false],
      ['SearchMatch', 'pass', false],
      ['AutoReload', 'reload', false],
      ['AdoptedFabric8', 'pass', false],
      ['AdoptedTrigger', 'pass', false],
      ['AdoptedWave', 'pass', false],
      ['AutoReloadAll', 'pass', false],
    ]);
  });

  it.each([
    [
      'that nothing is set',
      [],
      'the workload has neither reloader.stakater.com/auto nor configmap.reloader.stakater.com/auto',
      '',
    ],
    [
      'what is no boolean',
      [workloadSays({ '/auto': 'yes' })],
      'the workload has reloader.stakater.com/auto: "yes" (expected true or false)',
      ': the workload has reloader.stakater.com/auto: "yes" (expected true or false)',
    ],
    [
      'where that is',
      [podTemplateSays({ '/auto': 'false', 'configmap/auto': 'on' })],
      'the pod template has reloader.stakater.com/auto: "false" and configmap.reloader.stakater.com/auto: "on" (expected true or false)',
      ': the pod template has configmap.reloader.stakater.com/auto: "on" (expected true or false)',
    ],
    [
      'what is false',
      [workloadSays({ '/auto': 'false' })],
      'the workload has reloader.stakater.com/auto: "false"',
      '',
    ],
  ] as const)('says of AutoReload %s', (_sentence, given, auto, because) => {
    const details = Object.fromEntries(
      explainReload(decisionInput(...given)).map(({ rule, detail }) => [rule, detail]),
    );
    expect(details['AutoReload']).toBe(auto);
    expect(details['NotAsked']).toBe(`nothing asks for a reload for ConfigMap app-config${because}`);
  });

  it('says of each rule why it decided or had no opinion', () => {
    const steps = explainReload(decisionInput(workloadSays({ 'configmap/reload': 'web, app-.*' })));
    expect(Object.fromEntries(steps.map(({ rule, detail }) => [rule, detail]))).toEqual({
      IgnoredWorkloadKind: 'workloads of kind Deployment are not ignored',
      LeftAlone: 'nothing about the workload itself keeps it from reloading',
      IgnoredSourceKind: 'sources of kind ConfigMap are watched',
      IgnoredSource: 'the source does not have reloader.stakater.com/ignore: "true"',
      ExcludedSource:
        'configmaps.exclude.reloader.stakater.com/reload of the workload does not list app-config',
      NamedSource: '"app-.*" in configmap.reloader.stakater.com/reload of the workload matches "app-config"',
      SearchMatch: 'the workload does not have reloader.stakater.com/search: "true"',
      AutoReload:
        'the workload has neither reloader.stakater.com/auto nor configmap.reloader.stakater.com/auto',
      AdoptedFabric8: 'no annotation of fabric8 counts',
      AdoptedTrigger: 'no annotation of k8s-trigger-controller counts',
      AdoptedWave: 'no annotation of Wave counts',
      AutoReloadAll: '--auto-reload-all is off',
    });
  });
});
