import { describe, expect, it } from 'vitest';
import { keyOf } from '@reroll/core/model';
import { annotationChanges, annotationsAfter } from './annotation-changes.ts';
import { kindForName, sourceKindOf, workloadKindOf } from './kinds.ts';
import { anyRef, isSourceRef, sourceRef, workloadRef } from './object-ref.ts';
import { durationArgument, numberArgument, sinceArgument, untilArgument, wordArgument } from './values.ts';

describe('kinds, as kubectl takes them', () => {
  it.each([
    ['deploy', 'Deployment'],
    ['Deployments', 'Deployment'],
    ['DEPLOYMENT', 'Deployment'],
    ['deployment.apps', 'Deployment'],
    ['deployments.v1.apps', 'Deployment'],
    ['sts', 'StatefulSet'],
    ['ds', 'DaemonSet'],
    ['cj', 'CronJob'],
    ['cronjobs.batch', 'CronJob'],
    ['jobs', 'Job'],
    ['rollout.argoproj.io', 'Rollout'],
    ['ro', 'Rollout'],
    ['dc', 'DeploymentConfig'],
    ['deploymentconfigs.apps.openshift.io', 'DeploymentConfig'],
  ])('%s is a %s', (text, kind) => {
    expect(workloadKindOf(text)).toBe(kind);
    expect(sourceKindOf(text)).toBeUndefined();
  });

  it.each([
    ['cm', 'ConfigMap'],
    ['configmaps', 'ConfigMap'],
    ['configmap.v1', 'ConfigMap'],
    ['secret', 'Secret'],
    ['secretproviderclass.secrets-store.csi.x-k8s.io', 'SecretProviderClass'],
  ])('%s is a %s', (text, kind) => {
    expect(sourceKindOf(text)).toBe(kind);
    expect(workloadKindOf(text)).toBeUndefined();
  });

  it.each(['pod', 'deployment.batch', 'deployment.v1.batch', 'deploymentx', 'toString', '', 'secret.apps'])(
    '%j is none that Reroll knows',
    (text) => {
      expect([workloadKindOf(text), sourceKindOf(text)]).toEqual([undefined, undefined]);
    },
  );

  it.each(['Deployment', 'Job', 'Rollout', 'DeploymentConfig'])(
    'takes back what it prints for a %s',
    (kind) => {
      expect(workloadKindOf(kindForName(kind))).toBe(kind);
    },
  );
});

describe('names of objects', () => {
  it.each([
    [['deploy/web'], 'Deployment/shop/web'],
    [['deployment.apps/web'], 'Deployment/shop/web'],
    [['deploy', 'web'], 'Deployment/shop/web'],
    [['Deployment/other/web'], 'Deployment/other/web'],
  ])('%j is %s in the namespace shop', (words, key) => {
    expect(keyOf(workloadRef(words, 'shop'))).toBe(key);
  });

  it('a source is named the same way, and can be told from a workload', () => {
    expect(keyOf(sourceRef(['cm', 'x'], 'shop'))).toBe('ConfigMap/shop/x');
    expect([
      isSourceRef(anyRef(['secret/db'], 'shop')),
      isSourceRef(anyRef(['secret', 'db'], 'shop')),
      isSourceRef(anyRef(['deploy/db'], 'shop')),
    ]).toEqual([true, true, false]);
    expect(() => anyRef(['pod/web'], 'shop')).toThrow(
      'expected a source or a workload (cm, secret, spc, deploy, sts, ds, cj, job, ro, dc), given "pod"',
    );
  });

  it.each([
    [['web'], 'expected a workload as <kind>/<name>, e.g. deploy/web, given "web"'],
    [['deploy/web', 'x'], 'expected a workload as <kind>/<name>, e.g. deploy/web, given "deploy/web x"'],
    [['a/b/c/d'], 'expected a workload as <kind>/<name>, e.g. deploy/web, given "a/b/c/d"'],
    [['pod/web'], 'expected a workload (deploy, sts, ds, cj, job, ro, dc), given "pod"'],
    [['deploy/Web'], 'expected the name of a workload, given "Web"'],
    [['deploy/'], 'expected the name of a workload, given ""'],
    [['deploy/Shop/web'], 'expected the name of a namespace, given "Shop"'],
  ])('%j is refused with what was expected and given', (words, message) => {
    expect(() => workloadRef(words, 'shop')).toThrow(expect.objectContaining({ message, exit: 2 }));
  });
});

describe('values of flags', () => {
  const now = Date.parse('2026-11-21T15:00:00.000Z');

  it.each([
    ['30s', 30_000],
    ['90', 90_000],
    ['1h30m', 5_400_000],
    ['0', undefined],
    ['0s', undefined],
  ])('a duration of %s is %s ms', (text, milliseconds) => {
    expect(durationArgument('--timeout', text)).toBe(milliseconds);
  });

  it.each([
    ['1h', '2026-11-21T14:00:00.000Z'],
    ['2026-11-20T00:00:00Z', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2024-02-29T12:30Z', '2024-02-29T12:30:00.000Z'],
    ['2026-11-20t12:30:15.25+02:00', '2026-11-20T10:30:15.250Z'],
    ['2026-11-20T12:30:15.123456789-01:30', '2026-11-20T14:00:15.123Z'],
    ['2026-11-20T12:30', new Date(2026, 10, 20, 12, 30).toISOString()],
  ])('since %s is since %s', (text, time) => {
    expect(sinceArgument('--since', text, now)).toBe(time);
  });

  it.each([
    ['--timeout', () => durationArgument('--timeout', 'soon')],
    ['--timeout', () => durationArgument('--timeout', '-1s')],
    ['--since', () => sinceArgument('--since', 'yesterday', now)],
    ['--limit', () => numberArgument('--limit', '1e3', { least: 0, most: 10 })],
    ['--limit', () => numberArgument('--limit', '11', { least: 0, most: 10 })],
    ['--state', () => wordArgument('--state', 'gone', ['stuck', 'failed'])],
    ['--annotate', () => annotationChanges('--annotate', ['=x'])],
    ['--annotate', () => annotationChanges('--annotate', ['x'])],
  ])('a bad %s is told by its name, with exit code 2', (flag, read) => {
    expect(read).toThrow(
      expect.objectContaining({ message: expect.stringContaining(`expected ${flag} to be`), exit: 2 }),
    );
  });

  it.each(['45', '10', '0', '-1h', 'tomorrow 40', '2027', '20.11.2027', '2027-02-30', '2027-01-01T25:00Z'])(
    '%j is neither a time nor a duration, for --since and --until',
    (text) => {
      for (const [flag, read] of [['--since', sinceArgument] as const, ['--until', untilArgument] as const]) {
        const message = `expected ${flag} to be a time (2026-11-21T15:00:00Z) or a duration (1h), given "${text}"`;
        expect(() => read(flag, text, now)).toThrow(expect.objectContaining({ message, exit: 2 }));
      }
    },
  );

  it('annotations are set with = and taken away with -, as kubectl does it', () => {
    const changes = annotationChanges('--annotate', ['a.b/c=d=e', 'gone-', 'empty=']);
    expect(annotationsAfter({ gone: '1', kept: '2' }, changes)).toEqual({
      'a.b/c': 'd=e',
      kept: '2',
      empty: '',
    });
  });

  it('a word is taken whatever its case', () => {
    expect(wordArgument('--state', 'rolledout', ['rolledOut'])).toBe('rolledOut');
  });
});
