import type { WaveMember } from '@reroll/core/holds/waves';
import type { WorkloadKey } from '@reroll/core/model';
import type { SourceRow } from '@reroll/core/state/rows';
import { EXPLAIN_SETTINGS } from '@reroll/core/testing/explaining';
import { sourceRow } from '@reroll/core/testing/rows';
import { expect, it } from 'vitest';
import { WavePlans } from './wave-plans.ts';

const WAVES = { 'reroll.dev/waves': '1,250' };
const NO_HOLDS = { namespace: {}, installation: {} };
const NONE = { hash: 'shown', plan: null, halted: null, resumed: false };

function member(at: number, more: Partial<WaveMember> = {}): WaveMember {
  const workload: WorkloadKey = `Deployment/shop/w${at}`;
  return { workload, wave: Infinity, isReloaded: false, rollout: { state: 'complete', at: 0 }, ...more };
}

interface Told {
  readonly source?: Partial<SourceRow>;
  readonly namespaces?: Partial<typeof NO_HOLDS>;
  readonly dryRun?: boolean;
}

function asked(annotations: Record<string, string>, members: readonly WaveMember[] | undefined, more: Told) {
  const row = { ...sourceRow(5, 'a'), annotations, ...more.source };
  const { namespaces = NO_HOLDS, dryRun = false } = more;
  const plans = new WavePlans(
    { progress: async () => ({ source: row, members }) },
    { of: async () => namespaces },
    { shown: () => 'shown' },
  );
  return {
    plans,
    source: { key: 'Secret/shop/db', row },
    settings: { ...EXPLAIN_SETTINGS, dryRun },
  } as const;
}

async function answer(
  annotations: Record<string, string>,
  members: readonly WaveMember[] | undefined,
  more: Told = {},
) {
  const { plans, source, settings } = asked(annotations, members, more);
  return await plans.of(source, settings);
}

it('tells of each wave how it is, and lists no more than 200 workloads of one', async () => {
  const members = Array.from({ length: 251 }, (_, at) => member(at, { isReloaded: at === 0 }));
  const { plan, ...rest } = await answer(WAVES, members);
  expect(rest).toEqual({
    ...NONE,
    plan: undefined,
    hash: 'shown',
    waves: '1,250',
    bake: null,
    problem: null,
  });
  expect(plan?.map(({ workloads, ...wave }) => [wave, workloads.length])).toEqual([
    [{ state: 'done', until: null, size: 1, reloaded: 1 }, 1],
    [{ state: 'underWay', until: null, size: 249, reloaded: 0 }, 200],
    [{ state: 'waiting', until: null, size: 1, reloaded: 0 }, 1],
  ]);
  expect(plan?.[0]?.workloads).toEqual([
    {
      workload: { kind: 'Deployment', namespace: 'shop', name: 'w0' },
      reloaded: true,
      detail: 'is complete',
    },
  ]);
});

it('names the workload that halts the change, until somebody resumes it', async () => {
  const members = [
    member(0, { isReloaded: true, rollout: { state: 'stuck', code: 'OutOfQuota' } }),
    member(1),
  ];
  expect(await answer(WAVES, members)).toMatchObject({
    halted: { workload: { name: 'w0' }, reloaded: true, detail: 'is stuck (OutOfQuota)' },
    resumed: false,
  });
  const resumed = await answer({ ...WAVES, 'reroll.dev/resumed': '5; known' }, members);
  expect(resumed).toMatchObject({ halted: null, resumed: true });
});

it.each([
  ['with a bake time', { ...WAVES, 'reroll.dev/bake': '2m' }, [], {}, { bake: '2m' }],
  ['with a bake time of 0', { ...WAVES, 'reroll.dev/bake': '0s' }, [], {}, { bake: null }],
  [
    'in a dry run',
    WAVES,
    [],
    { dryRun: true },
    { plan: null, problem: expect.stringContaining('a dry run') },
  ],
  ['of a source that was deleted', WAVES, [], { source: { exists: false } }, { hash: null }],
  ['without waves', {}, [], {}, { waves: null, problem: null }],
  [
    'with those of its Namespace',
    {},
    [],
    { namespaces: { ...NO_HOLDS, namespace: WAVES } },
    { waves: '1,250' },
  ],
  [
    'if the Namespace cannot be read',
    {},
    [],
    { namespaces: {} },
    { problem: expect.stringContaining('could not be read') },
  ],
  [
    'if they cannot be read',
    { 'reroll.dev/waves': 'half' },
    [],
    {},
    { problem: expect.stringContaining('cannot be read: expected at most 10') },
  ],
  [
    'if the bake time cannot be read',
    { ...WAVES, 'reroll.dev/bake': '2d' },
    [],
    {},
    { bake: '2d', problem: expect.stringContaining('bake time cannot be read') },
  ],
  [
    'if no leader has told of rollouts',
    WAVES,
    undefined,
    {},
    { plan: null, problem: 'No watcher has told of rollouts yet.' },
  ],
] as const)('%s', async (_when, annotations, members, more, expected) => {
  expect(await answer(annotations, members, more)).toMatchObject(expected);
});

it.each([
  ['for an earlier wave', WAVES, {}, 'Wave 2 of 2 of Secret/db waits for Deployment/shop/w0, which is'],
  ['for those that are to be mended', { 'reroll.dev/waves': 'half' }, {}, 'cannot be read'],
  ['for nothing without waves', {}, {}, undefined],
  ['for nothing in a dry run', WAVES, { dryRun: true }, undefined],
] as const)('a workload waits %s', async (_for, annotations, more, detail) => {
  const { plans, source, settings } = asked(annotations, [member(0), member(1)], more);
  const hold = await plans.holdOf('Deployment/shop/w1', source, settings);
  if (detail === undefined) expect(hold).toBeUndefined();
  else expect(hold).toMatchObject({ reason: 'AwaitsWave', detail: expect.stringContaining(detail) });
});
