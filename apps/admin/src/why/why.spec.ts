import type { ExplainInput } from '@reroll/core/explain/facts';
import type { ReloadHold } from '@reroll/core/holds/hold';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import type { WorkloadKey } from '@reroll/core/model';
import type { SourceRow, WorkloadRow } from '@reroll/core/state/rows';
import { EXPLAIN_SETTINGS, explainInput } from '@reroll/core/testing/explaining';
import { recordOf, sourceRow, workloadRow } from '@reroll/core/testing/rows';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../auth/caller.ts';
import { WhyFacts, type WhyContext } from './why-facts.ts';
import { Why } from './why.ts';

const HOLD: ReloadHold = { reason: 'AwaitsWave', detail: 'Wave 2 of 2 of ConfigMap/cm waits for another' };
const FROZEN = { 'reroll.dev/freeze': '; audit' };
const PATTERN = { [KEYS.configMapReload]: 'c.*' };
const IGNORED = { [KEYS.ignore]: 'true' };
const EXCLUDE = 'configmaps.exclude.reloader.stakater.com/reload';
const NOW = { hash: '1.b', rv: '11', dataRv: '11' };

/** What holds `Deployment/ns/web`, by the reasons. `recorded`: the data of its pods; now there is `b`. */
async function holdsOf(recorded: 'a' | 'b', frozen: Readonly<Record<string, string>> = {}) {
  const { holds } = await explained(
    explainInput({ workload: { record: recordOf({ cm: recorded }) }, source: NOW }),
    frozen,
  );
  return holds;
}

async function explained(
  { workload, source, sharers = [] }: ExplainInput,
  frozen: Readonly<Record<string, string>> = {},
) {
  const facts = {
    settings: async () => EXPLAIN_SETTINGS,
    workload: async () => workload,
    sharersOf: async () => [...sharers],
    source: async () => source,
    hashSecret: async () => '',
    pausedQueues: async () => [],
  } as unknown as WhyFacts;
  const namespaces = { of: async () => ({ namespace: frozen, installation: {} }) };
  const why = new Why({ facts, namespaces, waves: { holdOf: async () => HOLD } });
  const caller = { seesAll: async () => true } as Caller;
  return await why.explain({ workload: workload.key, source: source.key }, caller);
}

describe('the wave for which a reload waits', () => {
  it('is told', async () => {
    expect(await holdsOf('a')).toEqual([{ reason: 'AwaitsWave', stops: false, detail: `${HOLD.detail}.` }]);
  });

  it('is not, if none is pending', async () => {
    expect(await holdsOf('b')).toEqual([]);
  });

  it('is not, if it is held by something that comes before', async () => {
    expect(await holdsOf('a', FROZEN)).toMatchObject([{ reason: 'Frozen' }]);
  });
});

it('a correction waits for a reload of another Rollout with the same record', async () => {
  const of = { dependencies: ['ConfigMap/cm'], record: recordOf({ cm: 'old' }) } as const;
  const other = workloadRow({ ...of, rv: '4', templateRv: '4' });
  const { due } = await explained({ ...explainInput({ kind: 'Rollout', workload: of }), sharers: [other] });
  expect(due.detail).toContain('until another Rollout of the Deployment is reloaded');
});

describe('the workloads for which a correction of a shared record waits', () => {
  const other = workloadRow();
  const sharers = ['Rollout/ns/a', 'Rollout/ns/b'] as const;
  const owner = { key: 'Deployment/ns/d', uid: 'd', generation: 1, rv: '9', isMarked: true } as const;
  const shared = { templateOwner: { ...owner, sharers } };
  const [CM, OTHER] = ['ConfigMap/cm', 'ConfigMap/other'];
  /** Its pods have the data of `cm`, and `other` is later than they are. */
  const correctedOf = (dependencies: readonly string[]): Partial<WorkloadRow> => ({
    ...shared,
    dependencies,
    templateRv: '10',
    record: recordOf({ cm: 'old', other: 'old' }),
  });

  it.each<[string, Partial<WorkloadRow>, { dryRun?: boolean }, unknown[]]>([
    [
      'those that share it, also one that the catalog does not know yet',
      correctedOf([CM]),
      {},
      [other, undefined],
    ],
    ['none, if none shares it', { ...correctedOf([CM]), templateOwner: owner }, {}, []],
    ['none, in a dry run', correctedOf([CM]), { dryRun: true }, []],
    ['none, if the workload is reloaded for another source', correctedOf([CM, OTHER]), {}, []],
  ])('are %s', async (_, row, settings, expected) => {
    const asked: unknown[] = [];
    const catalog = {
      keys: {},
      sources: async () =>
        new Map([
          ['ConfigMap/ns/cm', sourceRow(9, 'b')],
          ['ConfigMap/ns/other', sourceRow(11, 'b')],
        ]),
      workloads: async (keys: readonly WorkloadKey[]) => {
        if (keys.length > 0) asked.push(keys);
        return new Map([['Rollout/ns/a', other]]);
      },
    } as unknown as WhyContext['catalog'];
    const facts = new WhyFacts({ catalog, redis: {}, queues: {} } as WhyContext);
    const workload = { key: 'Rollout/ns/web', row: workloadRow(row) } as const;
    expect(await facts.sharersOf(workload, { ...EXPLAIN_SETTINGS, ...settings })).toEqual(expected);
    // Their rows are read together.
    expect(asked).toEqual(expected.length === 0 ? [] : [sharers]);
  });
});

it.each<[string, Partial<WorkloadRow>, Partial<SourceRow>, string]>([
  ['of a source that is ignored', { annotations: PATTERN }, { annotations: IGNORED }, 'SourceIgnored'],
  ['that excludes the source', { annotations: { ...PATTERN, [EXCLUDE]: 'cm' } }, {}, 'SourceExcluded'],
  ['without containers', { annotations: PATTERN, hasContainers: false }, {}, 'NoContainer'],
  ['that is left alone', { annotations: PATTERN, leftAlone: 'JobFinished' }, {}, 'JobFinished'],
])('a preview names a workload %s, to which only a pattern relates it', async (_, row, of, reason) => {
  const { workload, source } = explainInput({
    workload: { uses: [], dependencies: [], ...row },
    source: of,
  });
  const key = 'Deployment/ns/web';
  const facts = {
    settings: async () => EXPLAIN_SETTINGS,
    source: async () => source,
    eachWorkloadOf: async function* () {
      yield [{ ...workload, key }];
    },
  } as unknown as WhyFacts;
  const namespaces = { of: async () => ({ namespace: {}, installation: {} }) };
  const why = new Why({ facts, namespaces, waves: { holdOf: async () => HOLD } });
  const caller = { seesAll: async () => true } as Caller;
  const asked = { of: 'source', source: { kind: 'ConfigMap', namespace: 'ns', name: 'cm' } } as const;
  const { verdicts } = await why.preview(asked, caller, new AbortController().signal);
  expect(verdicts).toMatchObject([{ workload: { name: 'web' }, reloads: false, reason }]);
});
