import { assert, constantFrom, integer, property, record, subarray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '../annotations/annotation-keys.ts';
import { isDependency } from '../state/dependencies/dependencies.ts';
import { pendingCauseOf } from '../state/pending.ts';
import { NO_TRIGGERS } from '../state/settings.ts';
import type { Annotations } from '../model.ts';
import { decideReload } from '../rules/decision.ts';
import { EXPLAIN_SETTINGS, explainInput } from '../testing/explaining.ts';
import { recordOf, seenWorkload, sourceRow, workloadRow } from '../testing/rows.ts';
import { explain } from './explain.ts';
import { sourceFromCluster, workloadFromCluster } from './facts.ts';

const decision = EXPLAIN_SETTINGS.decision;
const strips = { before: ['t0'], strips: [100, 200, 300] };

/** What is asked, and the conclusion. */
const CONCLUSIONS: Readonly<
  Record<string, { of?: Parameters<typeof explainInput>[0]; reason: string; says: string }>
> = {
  'auto, used': {
    reason: 'AutoReload',
    says: 'Deployment ns/web reloads when ConfigMap ns/cm changes: the workload has reloader.stakater.com/auto: "true".',
  },
  'auto, not used': {
    of: { workload: { uses: [] } },
    reason: 'NoContainer',
    says: 'Deployment ns/web does not reload when ConfigMap ns/cm changes: the workload has reloader.stakater.com/auto: "true", but no container of its pod template uses the source.',
  },
  'named, not used': {
    of: { workload: { uses: [], annotations: { [KEYS.configMapReload]: 'c.' } } },
    reason: 'NamedByAnnotation',
    says: 'Deployment ns/web reloads when ConfigMap ns/cm changes: "c." in configmap.reloader.stakater.com/reload of the workload matches "cm".',
  },
  'named, without a container': {
    of: { workload: { hasContainers: false, annotations: { [KEYS.configMapReload]: 'cm' } } },
    reason: 'NoContainer',
    says: 'Deployment ns/web does not reload when ConfigMap ns/cm changes: "cm" in configmap.reloader.stakater.com/reload of the workload matches "cm", but its pod template has no container that could carry the marker.',
  },
  'nothing asked': {
    of: { workload: { annotations: {} } },
    reason: 'NotAnnotated',
    says: 'Deployment ns/web does not reload when ConfigMap ns/cm changes: nothing asks for a reload for ConfigMap cm.',
  },
  'ignored by the source': {
    of: { source: { annotations: { [KEYS.ignore]: 'true' } } },
    reason: 'SourceIgnored',
    says: 'Deployment ns/web does not reload when ConfigMap ns/cm changes: the source has reloader.stakater.com/ignore: "true".',
  },
  'a Job that is finished': {
    of: { kind: 'Job', workload: { leftAlone: 'JobFinished' } },
    reason: 'JobFinished',
    says: 'Job ns/web does not reload when ConfigMap ns/cm changes: the Job has finished and is not run again, except with `--recreate-finished-jobs`.',
  },
  'a CronJob that is suspended': {
    of: { kind: 'CronJob', workload: { isSuspended: true } },
    reason: 'CronJobSuspended',
    says: 'CronJob ns/web does not reload when ConfigMap ns/cm changes: the workload has reloader.stakater.com/auto: "true", but the CronJob is suspended: no Job is created, and its next run picks up the data.',
  },
  'a suspended CronJob whose template is patched': {
    of: { kind: 'CronJob', workload: { isSuspended: true }, settings: { cronJobStrategy: 'patch' } },
    reason: 'AutoReload',
    says: 'CronJob ns/web reloads when ConfigMap ns/cm changes: the workload has reloader.stakater.com/auto: "true".',
  },
  'a webhook instead': {
    of: { settings: { notifyOnly: true } },
    reason: 'NotifiedInstead',
    says: 'Deployment ns/web does not reload when ConfigMap ns/cm changes: the workload has reloader.stakater.com/auto: "true", but changes are sent to `--webhook-url`, and nothing is reloaded.',
  },
  'a dry run': {
    of: { settings: { dryRun: true } },
    reason: 'WouldReload',
    says: 'Deployment ns/web does not reload when ConfigMap ns/cm changes: the workload has reloader.stakater.com/auto: "true", but this is a dry run (`--dry-run`): nothing is patched.',
  },
  'a source without the labels of the watched ones': {
    of: { source: { isUnwatched: true } },
    reason: 'SourceNotWatched',
    says: 'Deployment ns/web does not reload when ConfigMap ns/cm changes: the workload has reloader.stakater.com/auto: "true", but the source does not have the labels of `--resource-label-selector`.',
  },
  'a source that does not exist': {
    of: { source: null },
    reason: 'SourceAbsent',
    says: 'Deployment ns/web does not reload when ConfigMap ns/cm is created: the workload has reloader.stakater.com/auto: "true", but the creation of a source is not a change of its data.',
  },
  'a source that does not exist, with --reload-on-create': {
    of: { source: null, settings: { triggers: { ...NO_TRIGGERS, onCreate: true } } },
    reason: 'AutoReload',
    says: 'Deployment ns/web reloads when ConfigMap ns/cm is created: the workload has reloader.stakater.com/auto: "true".',
  },
  'a source that was deleted and recorded': {
    of: { source: { exists: false, rv: '20' }, workload: { record: recordOf({ cm: 'a' }) } },
    reason: 'AutoReload',
    says: 'Deployment ns/web reloads when ConfigMap ns/cm is created: the workload has reloader.stakater.com/auto: "true".',
  },
};

describe('the conclusion says whether, when and why', () => {
  it.each(Object.entries(CONCLUSIONS))('%s', (_name, { of, reason, says }) => {
    const { conclusion, ...found } = explain(explainInput(of));
    expect(conclusion).toBe(says);
    expect(found.reason).toBe(reason);
    expect(found.reloads).toBe(!says.includes('does not reload'));
  });

  it('a conflict stops what the rules allow, and is told among what holds it back', () => {
    const {
      reloads,
      reason,
      isDependency: dependency,
      holds,
    } = explain(explainInput({ workload: { conflict: strips } }));
    expect({ reloads, reason, dependency }).toEqual({
      reloads: false,
      reason: 'Contested',
      dependency: true,
    });
    expect(holds).toEqual([{ reason: 'Contested', stops: true, detail: expect.stringMatching(/marker/) }]);
  });
});

it('gives every rule in order, and the one that decides is the one that decides', () => {
  const { rules } = explain(explainInput({ workload: { annotations: { [KEYS.search]: 'true' } } }));
  expect(rules.map(({ rule, outcome, decides }) => [rule, outcome, decides])).toEqual([
    ['IgnoredWorkloadKind', 'pass', false],
    ['LeftAlone', 'pass', false],
    ['IgnoredSourceKind', 'pass', false],
    ['IgnoredSource', 'pass', false],
    ['ExcludedSource', 'pass', false],
    ['NamedSource', 'pass', false],
    ['SearchMatch', 'pass', false],
    ['AutoReload', 'pass', false],
    ['AdoptedFabric8', 'pass', false],
    ['AdoptedTrigger', 'pass', false],
    ['AdoptedWave', 'pass', false],
    ['AutoReloadAll', 'pass', false],
    ['NotAsked', 'skip', true],
  ]);
});

/** What the catalog knows, and what is due. */
const DUE: Readonly<
  Record<
    string,
    { of?: Parameters<typeof explainInput>[0]; due: string | null; verdict: string | null; says: RegExp }
  >
> = {
  'recorded, the same': {
    of: { workload: { record: recordOf({ cm: 'a' }) } },
    due: null,
    verdict: 'InStep',
    says: /^Nothing is pending: according to the record/,
  },
  'recorded, other data since': {
    of: { workload: { record: recordOf({ cm: 'a' }) }, source: { hash: '1.b', rv: '11', dataRv: '11' } },
    due: 'owed',
    verdict: 'Roll',
    says: /the record has other data/,
  },
  'recorded, other data before the template': {
    of: { workload: { record: recordOf({ cm: 'a' }) }, source: { hash: '1.b', rv: '9', dataRv: '9' } },
    due: 'correct',
    verdict: 'Correct',
    says: /the pods have the data/,
  },
  'recorded under a key': {
    of: { workload: { record: '{"v":1,"s":{"ConfigMap/cm":"k1.x"}}' } },
    due: 'correct',
    verdict: 'Read',
    says: /another hash scheme/,
  },
  'unverified, and later': {
    of: {
      workload: { record: recordOf({ cm: 'a' }), unverified: ['ConfigMap/cm'] },
      source: { rv: '11', dataRv: '11' },
    },
    due: 'owed',
    verdict: 'Roll',
    says: /A reload is pending/,
  },
  'not recorded, data before': { due: 'correct', verdict: 'Adopt', says: /the source is not recorded yet/ },
  'not recorded, stale': {
    of: { workload: { stale: ['ConfigMap/cm'] } },
    due: 'correct',
    verdict: 'AdoptStale',
    says: /listed as stale/,
  },
  'not recorded, data later': {
    of: { source: { rv: '11', dataRv: '11' } },
    due: 'owed',
    verdict: 'Roll',
    says: /newer than the pods and is not recorded/,
  },
  'never seen': {
    of: { source: null },
    due: null,
    verdict: 'Absent',
    says: /the watcher has not seen the source/,
  },
  'deleted, which rolls nothing': {
    of: { source: { exists: false, rv: '11' }, workload: { record: recordOf({ cm: 'a' }) } },
    due: null,
    verdict: 'Absent',
    says: /was deleted, which reloads nothing/,
  },
  'deleted, with --reload-on-delete': {
    of: {
      source: { exists: false, rv: '11' },
      workload: { record: recordOf({ cm: 'a' }) },
      settings: { triggers: { ...NO_TRIGGERS, onDelete: 'always' } },
    },
    due: 'owed',
    verdict: 'Roll',
    says: /was deleted after/,
  },
  'rolled for its deletion, and back': {
    of: {
      workload: { record: '{"v":1,"s":{"ConfigMap/cm":"0.deleted"}}' },
      source: { rv: '11', dataRv: '11' },
    },
    due: 'owed',
    verdict: 'Roll',
    says: /the record has other data/,
  },
  'no dependency': {
    of: { workload: { annotations: {}, dependencies: [] } },
    due: null,
    verdict: null,
    says: /no change of the source reloads/,
  },
};

it('with --reload-on-create, a SecretProviderClass that pods mount for the first time reloads nothing', () => {
  const uses = ['SecretProviderClass/vault'] as const;
  const settings = { triggers: { ...NO_TRIGGERS, onCreate: true } };
  const input = explainInput({ workload: { uses, dependencies: uses }, settings });
  const told = explain({ ...input, source: { key: 'SecretProviderClass/ns/vault', row: undefined } });
  expect([told.reloads, told.reason]).toEqual([false, 'SourceAbsent']);
});

describe('what is due, and why', () => {
  it.each(Object.entries(DUE))('%s', (_name, { of, due, verdict, says }) => {
    const found = explain(explainInput(of)).due;
    expect(found).toMatchObject({ state: due, verdict, detail: expect.stringMatching(says) });
    expect(found.isKnown).toBe(verdict !== 'Read');
  });

  it('is what the cluster state enqueues for, and what a worker that reads then does', () => {
    const rv = integer({ min: 1, max: 6 }).map(String);
    const hash = constantFrom('a', 'b');
    const facts = record({
      recorded: constantFrom('a', 'b', undefined),
      templateRv: rv,
      baseline: rv,
      dataRv: rv,
      hash,
      unverified: subarray(['ConfigMap/cm']),
      onDelete: constantFrom('never' as const, 'always' as const),
      exists: constantFrom(true, false),
    });
    assert(
      property(facts, ({ recorded, templateRv, baseline, dataRv, unverified, onDelete, exists, ...more }) => {
        const triggers = { ...NO_TRIGGERS, onDelete };
        const row = workloadRow({
          rv: templateRv,
          templateRv,
          baselines: recorded === undefined ? { 'ConfigMap/cm': baseline } : {},
          record: recorded === undefined ? undefined : recordOf({ cm: recorded }),
          unverified: recorded === undefined ? [] : unverified,
        });
        const source = sourceRow(Number(dataRv), more.hash, { exists });
        const input = explainInput({ settings: { triggers } });
        const { due } = explain({
          ...input,
          workload: { ...input.workload, row },
          source: { ...input.source, row: source },
        });
        expect(due.state).toBe(pendingCauseOf(row, () => source, triggers));
        expect(due.verdict === 'Roll').toBe(due.state === 'owed');
      }),
    );
  });
});

it.each([
  ['a reload of a sharer is pending', '4', 'Shared', /stays as it is until another Rollout/],
  ['the pods of all have the data', '10', 'Correct', /Only the record will be corrected/],
])(
  'a record that others share is corrected only if no reload of theirs needs it: %s',
  (_, theirs, verdict, says) => {
    const of = {
      uses: ['ConfigMap/cm'],
      dependencies: ['ConfigMap/cm'],
      record: recordOf({ cm: 'old' }),
    } as const;
    const input = explainInput({ kind: 'Rollout', workload: of });
    const other = workloadRow({ ...of, rv: theirs, templateRv: theirs });
    const { due } = explain({ ...input, sharers: [other] });
    expect(due).toMatchObject({ state: 'correct', verdict });
    expect(due.detail).toMatch(says);
  },
);

it('says of the record what is recorded, what there is, and whether they agree', () => {
  const workload = { record: recordOf({ cm: 'a' }) };
  const facts = { recorded: '1.a', current: '1.a', agrees: true, isUnverified: false };
  expect(explain(explainInput({ workload })).record).toEqual(facts);
  expect(explain(explainInput({ workload, source: { hash: '1.b' } })).record).toEqual({
    ...facts,
    current: '1.b',
    agrees: false,
  });
  expect(explain(explainInput({ workload, source: { hash: 'kx.b' } })).record.agrees).toBeNull();
  expect(explain(explainInput({ source: null })).record).toEqual({
    recorded: null,
    current: null,
    agrees: null,
    isUnverified: false,
  });
});

it('tells of limits that cannot be read, pauses, patterns that cannot be used and sources that are not there, which stop nothing', () => {
  const annotations = {
    [KEYS.auto]: 'true',
    [KEYS.configMapReload]: '[',
    [KEYS.pausePeriod]: '5m',
    'reroll.dev/reload-limit': 'lots',
  };
  const { reloads, holds } = explain(
    explainInput({ workload: { annotations, resumeAt: Date.UTC(2026, 0, 2) }, source: null }),
  );
  expect(reloads).toBe(false);
  expect(holds.map(({ reason, stops }) => [reason, stops])).toEqual([
    ['SourceAbsent', false],
    ['InvalidAnnotation', false],
    ['Paused', false],
    ['ReloadedPaused', false],
    ['InvalidPattern', false],
  ]);
  expect(holds[1]?.detail).toBe(
    'reroll.dev/reload-limit cannot be read and is ignored: expected a limit such as 10/10m (1 to 50 reloads in 1s to 24h) or none, given "lots".',
  );
  expect(holds[2]?.detail).toBe('Its rollout is paused until 2026-01-02T00:00:00.000Z.');
  expect(holds[3]?.detail).toContain('paused for 5m');
});

it('tells of queues that are paused, which only puts a reload off', () => {
  const { reloads, holds } = explain({ ...explainInput(), pausedQueues: ['reloads'] });
  expect(reloads).toBe(true);
  expect(holds).toEqual([
    {
      reason: 'QueuePaused',
      stops: false,
      detail: 'The queue reloads is paused: pending workloads are reloaded when it is resumed.',
    },
  ]);
});

describe('read from the cluster', () => {
  const source = (metadata: Parameters<typeof sourceFromCluster>[1]) =>
    sourceFromCluster('ConfigMap/ns/cm', metadata, KEYS);
  const spec = {
    containers: [{ name: 'app', envFrom: [{ configMapRef: { name: 'cm' } }] }],
    volumes: [{ name: 'v', configMap: { name: 'cm' } }],
  };
  const workload = workloadFromCluster(seenWorkload('web', 10, { record: recordOf({ cm: 'a' }) }), spec);
  const from = 'cluster';
  const settings = EXPLAIN_SETTINGS;

  it('the rules and the use are known, and what is due is not', () => {
    const found = explain({ workload, source: source({ resourceVersion: '20' }), settings, from });
    expect(found).toMatchObject({
      reloads: true,
      reason: 'AutoReload',
      record: { recorded: '1.a', current: null },
    });
    expect(found.use.detail).toBe(
      'The pod template uses the source: envFrom of container app; volume v, which nothing mounts.',
    );
    expect(found.due).toMatchObject({
      state: null,
      isKnown: false,
      detail: expect.stringMatching(/^Not known/),
    });
  });

  it('a source that may not be read is judged as one without annotations, and that is said', () => {
    const found = explain({ workload, source: source('forbidden'), settings, from });
    expect(found.reloads).toBe(true);
    expect(found.holds).toEqual([
      { reason: 'Forbidden', stops: false, detail: expect.stringMatching(/may not read/) },
    ]);
  });

  it('a source that does not exist', () => {
    const found = explain({ workload, source: source(null), settings, from });
    expect(found).toMatchObject({ reloads: false, reason: 'SourceAbsent' });
  });
});

it('agrees with the rules, and with what the cluster state counts as a dependency, whatever the annotations', () => {
  const annotations = record(
    {
      [KEYS.auto]: constantFrom('true', 'false', 'x'),
      [KEYS.search]: constantFrom('true', 'x'),
      [KEYS.configMapReload]: constantFrom('cm', 'c.*', '[', ''),
      [KEYS.configMapExclude]: constantFrom('cm', 'other'),
    },
    { requiredKeys: [] },
  );
  const marks = record(
    { [KEYS.match]: constantFrom('true'), [KEYS.ignore]: constantFrom('true') },
    { requiredKeys: [] },
  );
  assert(
    property(annotations, marks, subarray(['ConfigMap/cm']), (given, marked, uses) => {
      const [own, source] = [given as Annotations, marked as Annotations];
      const input = explainInput({ workload: { annotations: own, uses }, source: { annotations: source } });
      const found = explain(input);
      const asked = { ...input.workload.row, kind: 'Deployment' } as const;
      const question = { workload: asked, source: 'ConfigMap/cm', annotations: source };
      expect(found.isDependency).toBe(isDependency(question, decision));
      expect(found.reloads).toBe(found.isDependency);
      const ruled = decideReload({
        source: { kind: 'ConfigMap', name: 'cm', annotations: source },
        workload: asked,
        settings: decision,
      });
      expect(found.rules.find(({ decides }) => decides)?.rule).toBe(ruled.rule);
    }),
  );
});

it.each([
  [{ 'reroll.dev/freeze': '; audit' }, 'Frozen', 'The workload is frozen until somebody ends it: audit.'],
  [
    { 'reroll.dev/approval': 'required' },
    'AwaitsApproval',
    'The workload waits until someone approves what is pending (reroll.dev/approval).',
  ],
  [
    { 'reroll.dev/approval': 'maybe' },
    'AwaitsApproval',
    expect.stringContaining(
      '). reroll.dev/approval cannot be read: expected required or none, given "maybe".',
    ),
  ],
  [
    { 'reroll.dev/approval': 'required', 'reroll.dev/approved': '' },
    'AwaitsApproval',
    expect.stringContaining('waits until someone approves'),
  ],
] as const)(
  'what the annotations of the workload hold is told, and waits: %j',
  (annotations, reason, detail) => {
    const { keys } = EXPLAIN_SETTINGS.decision;
    const input = explainInput({ workload: { annotations: { [keys.auto]: 'true', ...annotations } } });
    const { reloads, holds } = explain({ ...input, now: 0, namespaces: { namespace: {}, installation: {} } });
    expect([reloads, holds]).toEqual([true, [{ reason, stops: false, detail }]]);
  },
);

describe('what a Namespace holds', () => {
  const frozen = { 'reroll.dev/freeze': '; audit' };

  it.each([
    [{ namespace: frozen, installation: {} }, 'The namespace is frozen until somebody ends it: audit.'],
    [
      { namespace: {}, installation: { 'reroll.dev/freeze-all': '; audit' } },
      'The installation is frozen until somebody ends it: audit.',
    ],
  ])('is told: %j', (namespaces, detail) => {
    const { reloads, holds } = explain({ ...explainInput({}), now: 0, namespaces });
    expect([reloads, holds]).toEqual([true, [{ reason: 'Frozen', stops: false, detail }]]);
  });

  it('is not known if it could not be read, which is told if it was asked for', () => {
    const holdsAt = (now: number | undefined) =>
      explain({ ...explainInput({}), ...(now === undefined ? {} : { now }) }).holds;
    expect(holdsAt(0)).toMatchObject([
      {
        reason: 'Forbidden',
        stops: false,
        detail: expect.stringContaining('what its annotations hold is not known'),
      },
      {
        reason: 'Forbidden',
        stops: false,
        detail: expect.stringContaining('a freeze of everything is not known'),
      },
    ]);
    expect(holdsAt(undefined)).toEqual([]);
  });
});

it('a source without the labels of the watched ones makes nothing pending, though its data is newer than the record', () => {
  const changed = { rv: '20', dataRv: '20', isUnwatched: true };
  const { due } = explain(explainInput({ workload: { record: recordOf({ cm: 'old' }) }, source: changed }));
  const detail = 'Nothing is pending: the source is not watched.';
  expect(due).toEqual({ state: null, isKnown: true, verdict: 'Absent', detail });
});
