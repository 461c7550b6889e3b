import { describe, expect, it, vi } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../../annotations/annotation-keys.ts';
import { HOLD_ANNOTATIONS } from '../../holds/hold.ts';
import { AUTO, recordOf, seenSource, seenWorkload } from '../../testing/rows.ts';
import { REASONS } from '../../reasons.ts';
import { recordedHashes, writeRecord } from '../../record/record.ts';
import { ClusterState } from '../cluster-state.ts';
import type { ObservedWorkload, WorkloadRow } from '../rows.ts';
import { MOST_FOLLOWERS } from './template-followers.ts';
import { WorkloadIntake } from './workload-intake.ts';

/** A Rollout that has the pod template of a Deployment: two streams, one row. */
const SOURCES = { kind: 'ConfigMap', namespace: '' };
const DEPLOYMENTS = { kind: 'Deployment', namespace: '' };
const ROLLOUTS = { kind: 'Rollout', namespace: '' };
const ROLLOUT = 'Rollout/ns/web';
const DEPLOYMENT = 'Deployment/ns/web';
const NONE: ReadonlyMap<string, WorkloadRow> = new Map();
const A = recordOf({ cm: 'A' });

function deployment(rv: number, more: Partial<ObservedWorkload> = {}): ObservedWorkload {
  return seenWorkload('web', rv, { annotations: {}, ...more });
}

function rollout(
  rv: number,
  more: Partial<ObservedWorkload> & { restarts?: boolean } = {},
): ObservedWorkload {
  const { restarts = false, ...rest } = more;
  return seenWorkload('web', rv, {
    key: ROLLOUT,
    kind: 'Rollout',
    uid: 'uid-rollout',
    template: 'empty',
    hasContainers: false,
    uses: [],
    annotations: AUTO,
    templateFrom: { owner: DEPLOYMENT, isMarkedThere: !restarts },
    ...rest,
  });
}

/** Its pods were restarted at 22. */
const RESTARTED = rollout(22, { restartAt: 100 });

interface Told {
  readonly clusterState: ClusterState;
  readonly intake: WorkloadIntake;
  /** The row, the cause of its reload job if it has one, and whether its Deployment has anything pending itself. */
  state(): { row: WorkloadRow | undefined; pending: string | undefined; owner: string | undefined };
}

/** A watcher that has listed a ConfigMap of resourceVersion 10, and no workload yet. */
function listening(autoReloadAll = false): Told {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 50 });
  const intake = new WorkloadIntake(clusterState, decision);
  clusterState.sourcesListed({
    scope: SOURCES,
    rv: '15',
    objects: [seenSource('cm', 10, 'A')],
    catalog: new Map(),
  });
  return {
    clusterState,
    intake,
    state: () => ({
      row: clusterState.workloads.get(ROLLOUT),
      pending: clusterState.pending.get(ROLLOUT)?.cause,
      owner: clusterState.pending.get(DEPLOYMENT)?.cause,
    }),
  };
}

function list(
  told: Told,
  seen: { deployments?: ObservedWorkload[]; rollouts?: ObservedWorkload[] },
  rv = 15,
): void {
  const { deployments = [], rollouts = [] } = seen;
  for (const [scope, objects] of [
    [DEPLOYMENTS, deployments],
    [ROLLOUTS, rollouts],
  ] as const) {
    told.clusterState.workloadListBegins(scope);
    told.intake.listed({ scope, rv: String(rv), objects, catalog: NONE });
  }
}

/** Both listed, recorded with what the ConfigMap has. */
function settled(restarts = false): Told {
  const told = listening();
  const [onOwner, onOwn] = restarts ? [{}, { record: A }] : [{ record: A }, {}];
  list(told, { deployments: [deployment(12, onOwner)], rollouts: [rollout(13, { ...onOwn, restarts })] });
  expect(told.state()).toMatchObject({ pending: undefined, owner: undefined });
  return told;
}

function change(told: Told, rv: number, hash: string): void {
  told.clusterState.sourceWritten(seenSource('cm', rv, hash), SOURCES);
}

describe('a workload with the pod template of another one', () => {
  it('is judged by that template, its own annotations, and the record where it is written', () => {
    const told = listening();
    list(told, { deployments: [deployment(12, { record: A })], rollouts: [rollout(13, { record: 'mine' })] });
    expect(told.state().row).toMatchObject({
      uid: 'uid-rollout',
      rv: '13',
      template: 't1',
      uses: ['ConfigMap/cm'],
      dependencies: ['ConfigMap/cm'],
      record: A,
      templateOwner: { key: DEPLOYMENT, uid: 'uid-web', generation: 1, rv: '12', isMarked: true },
    });
    expect(settled(true).state().row?.record).toBe(A);
  });

  it.each([false, true])('has a change pending, and its owner has none (restarted: %s)', (restarts) => {
    const told = settled(restarts);
    change(told, 20, 'B');
    expect(told.state()).toMatchObject({ pending: 'owed', owner: undefined });
    expect([...told.clusterState.outbox.changes]).toEqual(['ConfigMap/ns/cm']);
  });

  const orders: [string, (told: Told) => void][] = [
    [
      'the owner first',
      ({ intake }) => [deployment(17), rollout(18)].forEach((seen) => intake.written(seen)),
    ],
    ['the owner last', ({ intake }) => [rollout(18), deployment(17)].forEach((seen) => intake.written(seen))],
    [
      'the owner last, and newer',
      ({ intake }) => [rollout(17), deployment(18)].forEach((seen) => intake.written(seen)),
    ],
  ];
  it.each(orders)(
    'is adopted when both came live, %s, and has a change pending after that',
    (_order, tell) => {
      const told = listening();
      list(told, {});
      tell(told);
      expect(told.state().pending).toBe('correct');
      change(told, 20, 'B');
      expect(told.state()).toMatchObject({ pending: 'owed', owner: undefined });
    },
  );

  it.each([
    ['before', 19, 'owed'],
    ['after', 22, 'correct'],
  ])(
    'a template written %s a change is dated by its owner, however far the other stream is',
    (_when, rv, pending) => {
      const told = settled();
      change(told, 20, 'B');
      told.intake.written(rollout(30, { generation: 2 }));
      expect(told.state().pending).toBe('owed');
      told.intake.written(deployment(rv, { record: A, template: 't2', generation: 2 }));
      expect(told.state()).toMatchObject({ pending, row: { templateRv: String(rv) } });
    },
  );

  it('a source that its owner begins to use is dated by that write, however far the other stream is', () => {
    const told = settled();
    told.clusterState.sourceWritten(seenSource('new', 16, 'A'), SOURCES);
    told.clusterState.sourceWritten(seenSource('new', 21, 'B'), SOURCES);
    told.intake.written(rollout(30));
    told.intake.written(
      deployment(20, { record: A, template: 't2', generation: 2, uses: ['ConfigMap/cm', 'ConfigMap/new'] }),
    );
    expect(told.state()).toMatchObject({ pending: 'owed', row: { baselines: { 'ConfigMap/new': '20' } } });
  });

  it('a change of the template that nobody saw is dated by what was known of its owner', () => {
    const told = settled();
    told.intake.written(rollout(30));
    change(told, 20, 'B');
    list(told, { deployments: [deployment(35, { record: A, template: 't2' })], rollouts: [rollout(30)] }, 40);
    // It came after 12, not after 30: the change at 20 may have come after it.
    expect(told.state()).toMatchObject({ pending: 'owed', row: { templateRv: '12' } });
  });

  it('a restart of its own counts, as for any other', () => {
    const told = settled(true);
    change(told, 20, 'B');
    told.intake.written(rollout(22, { record: A, restarts: true, restartAt: 100 }));
    expect(told.state()).toMatchObject({ pending: 'correct', row: { templateRv: '22' } });
  });

  it('that is given another owner has its template from that write on', () => {
    const told = settled();
    told.intake.written(deployment(16, { key: 'Deployment/ns/other', uid: 'uid-other', template: 't9' }));
    change(told, 20, 'B');
    const from = { owner: 'Deployment/ns/other', isMarkedThere: true } as const;
    told.intake.written(rollout(22, { templateFrom: from }));
    expect(told.state().row).toMatchObject({ template: 't9', templateRv: '22' });
    told.intake.written(deployment(25, { record: A, template: 't3' }));
    expect(told.state().row).toMatchObject({ template: 't9', templateRv: '22' });
  });

  it('that is restarted is not dated back by a restart that its stream tells of late', () => {
    const told = settled(true);
    change(told, 20, 'B');
    told.intake.written(deployment(22, { template: 't2' }));
    told.intake.written(rollout(18, { record: A, restarts: true, restartAt: 100 }));
    expect(told.state()).toMatchObject({ pending: 'correct', row: { templateRv: '22' } });
  });

  it('that is created has the template that its owner has by then, also if that was told first', () => {
    const told = listening();
    list(told, {});
    told.intake.written(deployment(16));
    change(told, 20, 'B');
    told.intake.written(deployment(22, { template: 't2' }));
    told.intake.written(rollout(17));
    expect(told.state()).toMatchObject({ pending: 'correct', row: { templateRv: '22' } });
  });

  it.each([
    [1, ['ConfigMap/cm'], 'owed'],
    [2, [], undefined],
  ])(
    'a record of its own is unverified if decided before the template (by generation %i)',
    (by, unverified, pending) => {
      const told = settled(true);
      const record = writeRecord(recordedHashes(recordOf({ cm: 'C' })), { uid: 'uid-web', generation: by });
      change(told, 20, 'B');
      told.intake.written(deployment(22, { template: 't2', generation: 2 }));
      change(told, 23, 'C');
      told.intake.written(rollout(24, { record, restarts: true }));
      expect(told.state()).toMatchObject({ row: { unverified } });
      expect(told.state().pending).toBe(pending);
    },
  );

  it.each<[string, (told: Told) => void]>([
    ['live', ({ intake }) => intake.written(deployment(16, { record: A }))],
    [
      'by a list',
      (told) => list(told, { deployments: [deployment(35, { record: A })], rollouts: [RESTARTED] }),
    ],
  ])(
    'a record that is shown only after a later restart does not hide a change back (%s)',
    (_how, isShown) => {
      const told = listening();
      list(told, { deployments: [deployment(12)], rollouts: [rollout(13)] });
      change(told, 20, 'B');
      told.intake.written(RESTARTED);
      change(told, 24, 'A');
      isShown(told);
      expect(told.state()).toMatchObject({
        pending: 'owed',
        row: { templateRv: '22', unverified: ['ConfigMap/cm'] },
      });
    },
  );

  it('a record that is shown only after a later restart is true if nothing changed', () => {
    const told = listening();
    list(told, { deployments: [deployment(12)], rollouts: [rollout(13)] });
    told.intake.written(RESTARTED);
    told.intake.written(deployment(16, { record: A }));
    expect(told.state()).toMatchObject({ pending: undefined, row: { templateRv: '22', unverified: [] } });
  });

  it('is not dated anew by an event of its owner that comes again', () => {
    const told = settled();
    const seen = deployment(16, { record: A, template: 't2' });
    told.intake.written(seen);
    change(told, 20, 'B');
    told.intake.written(seen);
    expect(told.state()).toMatchObject({ pending: 'owed', row: { templateRv: '16' } });
  });
});

describe('while its owner is away', () => {
  it.each([
    ['live', ({ intake }: Told): void => intake.deleted(DEPLOYMENT)],
    [
      'at a list',
      (told: Told): void => list(told, { rollouts: [rollout(13, { record: A, restarts: true })] }, 30),
    ],
  ])('nothing is pending, and what its pods lack is pending when it is back (gone %s)', (_how, goes) => {
    const told = settled(true);
    goes(told);
    expect(told.state()).toMatchObject({
      pending: undefined,
      row: { leftAlone: 'WorkloadRefMissing', dependencies: [] },
    });
    change(told, 40, 'B');
    expect(told.state().pending).toBeUndefined();
    told.intake.written(deployment(45, { uid: 'uid-again' }));
    expect(told.state()).toMatchObject({ pending: 'owed', row: { dependencies: ['ConfigMap/cm'] } });
  });

  it('a record that went with it stands in', () => {
    const told = settled();
    told.intake.deleted(DEPLOYMENT);
    told.intake.written(deployment(45, { uid: 'uid-again' }));
    expect(told.state().pending).toBe('correct');
    const other = settled();
    other.intake.deleted(DEPLOYMENT);
    change(other, 40, 'B');
    other.intake.written(deployment(45, { uid: 'uid-again' }));
    expect(other.state().pending).toBe('owed');
  });

  it('another template that it comes back with has brought the change', () => {
    const told = settled(true);
    told.intake.deleted(DEPLOYMENT);
    change(told, 40, 'B');
    told.intake.written(deployment(45, { uid: 'uid-again', template: 't2' }));
    expect(told.state()).toMatchObject({ pending: 'correct', row: { templateRv: '45' } });
  });
});

describe('whoever of the two asks', () => {
  const auto = { 'reloader.stakater.com/auto': 'true' };
  const LISTED = DEFAULT_ANNOTATION_KEYS.secretProviderClassReload;
  it.each<[string, Partial<ObservedWorkload>, boolean]>([
    ['an annotation of the owner', { annotations: auto }, true],
    ['an annotation of the pod template', { podAnnotations: auto }, true],
    ['one that says no', { annotations: { 'reloader.stakater.com/auto': 'false' } }, true],
    [
      'one that only excludes',
      { annotations: { 'secrets.exclude.reloader.stakater.com/reload': 'x' } },
      false,
    ],
    ['one of another system', { annotations: { 'configmap.fabric8.io/update-on-change': 'cm' } }, true],
    ['one of the pod template that lists names', { podAnnotations: { [LISTED]: 'cm' } }, true],
    ...HOLD_ANNOTATIONS.map((key): [string, Partial<ObservedWorkload>, boolean] => [
      `${key}, which holds it,`,
      { annotations: { [key]: 'x' } },
      false,
    ]),
    ['what Wave left', { annotations: { 'wave.pusher.com/left-behind': 'finalizer' } }, false],
    ['none', {}, false],
  ])('%s decides whether the owner alone is asked', (_which, more, isAlone) => {
    const told = listening();
    list(told, { deployments: [deployment(12, more)], rollouts: [rollout(13)] });
    const expected = isAlone ? 'WorkloadRefAnnotated' : undefined;
    expect(told.state().row?.leftAlone).toBe(expected);
    expect(told.state().row?.dependencies).toEqual(isAlone ? [] : ['ConfigMap/cm']);
  });

  it('with --auto-reload-all it is the owner', () => {
    const told = listening(true);
    list(told, { deployments: [deployment(12)], rollouts: [rollout(13)] });
    expect(told.state()).toMatchObject({ pending: undefined, owner: 'correct' });
  });

  it('annotations that move from the one to the other roll nothing', () => {
    const told = listening();
    list(told, {
      deployments: [deployment(12, { annotations: auto, record: A })],
      rollouts: [rollout(13, { annotations: {} })],
    });
    told.intake.written(rollout(20));
    told.intake.written(deployment(21, { record: A }));
    expect(told.state()).toMatchObject({
      pending: undefined,
      owner: undefined,
      row: { dependencies: ['ConfigMap/cm'] },
    });
  });
});

it('a Rollout that goes takes its row along, and its owner speaks for nobody any more', () => {
  const told = settled();
  told.intake.deleted(ROLLOUT);
  told.intake.written(deployment(20, { template: 't2' }));
  expect(told.state().row).toBeUndefined();
});

describe('Rollouts of one Deployment', () => {
  const OTHER = 'Rollout/ns/other';
  const other = (rv: number, more: Parameters<typeof rollout>[1] = {}): ObservedWorkload =>
    rollout(rv, { key: OTHER, uid: 'uid-other', ...more });
  const sharers = ({ clusterState }: Told): unknown[] =>
    [ROLLOUT, OTHER].map((key) => clusterState.workloads.get(key as typeof ROLLOUT)?.templateOwner?.sharers);

  /** Alone, and with a row that was published. */
  function alone(): Told {
    const told = settled();
    expect(sharers(told)[0]).toBeUndefined();
    told.clusterState.outbox.clear();
    return told;
  }

  it.each<[string, (told: Told) => void]>([
    ['that is created', ({ intake }) => intake.written(other(18))],
    [
      'that a list shows',
      (told) =>
        list(told, { deployments: [deployment(12, { record: A })], rollouts: [rollout(13), other(14)] }, 20),
    ],
    [
      'whose restarts end',
      ({ intake }) => {
        intake.written(other(18, { restarts: true }));
        intake.written(other(19));
      },
    ],
  ])('know with whom they share its record: one %s', (_how, comes) => {
    const told = alone();
    comes(told);
    expect(sharers(told)).toEqual([[OTHER], [ROLLOUT]]);
    expect([...told.clusterState.outbox.workloads].sort()).toEqual([OTHER, ROLLOUT]);
  });

  it.each<[string, (told: Told) => void]>([
    ['is deleted', ({ intake }) => intake.deleted(OTHER)],
    ['is restarted from now on', ({ intake }) => intake.written(other(30, { restarts: true }))],
    [
      'refers to another Deployment',
      ({ intake }) =>
        intake.written(other(30, { templateFrom: { owner: 'Deployment/ns/other', isMarkedThere: true } })),
    ],
  ])('share it no more with one that %s, and are looked at again', (_how, leaves) => {
    const told = alone();
    change(told, 20, 'B');
    told.intake.written(other(25));
    expect(sharers(told)).toEqual([[OTHER], [ROLLOUT]]);
    told.clusterState.outbox.clear();
    leaves(told);
    expect(sharers(told)[0]).toBeUndefined();
    expect(told.clusterState.outbox.reloads.get(ROLLOUT)).toBe('owed');
  });

  it.each([
    ['is there', [deployment(12, { record: A })]],
    ['is missing', []],
  ])(
    'are not looked at again for a write of one that changes nothing, while the Deployment %s',
    (_, deployments) => {
      const told = listening();
      list(told, { deployments, rollouts: [rollout(13), other(14)] }, 20);
      const found = vi.spyOn(told.clusterState, 'workloadsFound');
      told.intake.written(other(25));
      expect(found).not.toHaveBeenCalled();
    },
  );

  it('share none that they hold themselves', () => {
    const told = settled(true);
    told.intake.written(other(18));
    expect(sharers(told)).toEqual([undefined, undefined]);
  });

  it('are judged apart: a change that is pending for one was there before the other', () => {
    const told = alone();
    change(told, 20, 'B');
    told.intake.written(other(25));
    const { pending } = told.clusterState;
    expect([ROLLOUT, OTHER].map((key) => pending.get(key as typeof ROLLOUT)?.cause)).toEqual([
      'owed',
      'correct',
    ]);
  });
});

describe('more Rollouts than may follow one Deployment', () => {
  const LAST = `Rollout/ns/web-${MOST_FOLLOWERS}` as const;
  const nth = (n: number, rv: number): ObservedWorkload =>
    rollout(rv, { key: `Rollout/ns/web-${n}`, uid: `uid-${n}` });

  /** All follow, except the last one, which came last. */
  function crowded(): Told {
    const told = listening();
    const rollouts = Array.from({ length: MOST_FOLLOWERS + 1 }, (_, n) => nth(n, 13));
    list(told, { deployments: [deployment(12, { record: A })], rollouts });
    return told;
  }

  const followers = ({ clusterState }: Told): number =>
    [...clusterState.workloads.values()].filter(({ templateOwner }) => templateOwner).length;

  it('are left alone, with advice', () => {
    const told = crowded();
    expect(followers(told)).toBe(MOST_FOLLOWERS);
    expect([MOST_FOLLOWERS, REASONS.TooManyRollouts]).toEqual([10, expect.stringMatching(/^Ten other/u)]);
    expect(told.clusterState.workloads.get(LAST)).toMatchObject({
      leftAlone: 'TooManyRollouts',
      dependencies: [],
    });
    expect(told.clusterState.pending.get(LAST)).toBeUndefined();
    expect(told.clusterState.outbox.reloads.get(LAST)).toBe('correct');
  });

  it('are not evaluated at an event of the Deployment', () => {
    const told = crowded();
    const before = told.clusterState.workloads.get(LAST);
    told.intake.written(deployment(20, { record: A, template: 't2', generation: 2 }));
    const rows = [...told.clusterState.workloads.values()];
    expect(rows.filter(({ template }) => template === 't2')).toHaveLength(1 + MOST_FOLLOWERS);
    expect(told.clusterState.workloads.get(LAST)).toBe(before);
  });

  it('keep their place, however often they are written', () => {
    const told = crowded();
    told.intake.written(nth(0, 20));
    told.intake.written(nth(MOST_FOLLOWERS, 21));
    expect(told.clusterState.workloads.get(LAST)?.leftAlone).toBe('TooManyRollouts');
    expect(followers(told)).toBe(MOST_FOLLOWERS);
  });

  it.each<[string, (told: Told) => void]>([
    ['is deleted', ({ intake }) => intake.deleted('Rollout/ns/web-3')],
    [
      'refers to another Deployment',
      ({ intake }) =>
        intake.written({
          ...nth(3, 30),
          templateFrom: { owner: 'Deployment/ns/other', isMarkedThere: true },
        }),
    ],
    [
      'gets its own pod template',
      ({ intake }) => {
        const { templateFrom: _from, ...own } = nth(3, 30);
        intake.written(own);
      },
    ],
    [
      'is absent from a list',
      (told) => {
        const rollouts = Array.from({ length: MOST_FOLLOWERS + 1 }, (_, n) => nth(n, 13)).filter(
          ({ key }) => key !== 'Rollout/ns/web-3',
        );
        list(told, { deployments: [deployment(12, { record: A })], rollouts }, 30);
      },
    ],
  ])('follow when one of the others %s, and then have pending what came meanwhile', (_how, leaves) => {
    const told = crowded();
    change(told, 20, 'B');
    expect(told.clusterState.pending.get(LAST)).toBeUndefined();
    leaves(told);
    const row = told.clusterState.workloads.get(LAST);
    expect([row?.leftAlone, row?.dependencies]).toEqual([undefined, ['ConfigMap/cm']]);
    expect(told.clusterState.pending.get(LAST)?.cause).toBe('owed');
  });

  it('are not dated by a later write of their own, so that they speak for no other Rollout', () => {
    const told = crowded();
    change(told, 20, 'B');
    told.intake.written(nth(MOST_FOLLOWERS, 30));
    told.intake.deleted('Rollout/ns/web-3');
    expect(told.clusterState.workloads.get(LAST)).toMatchObject({ templateRv: '0' });
    expect(told.clusterState.pending.get(LAST)?.cause).toBe('owed');
  });

  it('that followed before are compared with the template that they had', () => {
    const told = crowded();
    told.intake.deleted('Rollout/ns/web-3');
    told.intake.written(nth(3, 14));
    change(told, 20, 'B');
    told.intake.written(deployment(22, { record: A, template: 't2', generation: 2 }));
    told.intake.deleted('Rollout/ns/web-4');
    // It has the template of 22, but nobody saw that it was there after 20.
    expect(told.clusterState.pending.get('Rollout/ns/web-3')?.cause).toBe('owed');
  });
});
