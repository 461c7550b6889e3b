import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '../annotations/annotation-keys.ts';
import { DEFAULT_ANNOTATION_LIMITS } from '../annotations/annotation-limits.ts';
import type { SourceRow, WorkloadRow } from '../state/rows.ts';
import type { SourceKey, WorkloadKind } from '../model.ts';
import { EXPLAIN_SETTINGS } from '../testing/explaining.ts';
import { recordOf, sourceRow, workloadRow } from '../testing/rows.ts';
import type { ExplainedWorkload } from './facts.ts';
import { MOST_LISTED, PreviewedPairs, type Preview } from './preview.ts';
import { planOfSource, previewSource } from './preview-source.ts';
import { previewWorkload } from './preview-workload.ts';
import type { ProposedAnnotations } from './proposed.ts';

const from = 'catalog';
const settings = EXPLAIN_SETTINGS;

function workload(
  name: string,
  row: Partial<WorkloadRow> = {},
  kind: WorkloadKind = 'Deployment',
): ExplainedWorkload {
  return { key: `${kind}/ns/${name}`, row: workloadRow({ uid: name, rv: '10', templateRv: '10', ...row }) };
}

const none = { uses: [], dependencies: [], annotations: {} };
const source = { key: 'ConfigMap/ns/cm', row: sourceRow(5, 'a') } as const;

/** `[<workload>, <source>, <reloads>, <reason>]`, names alone. */
function told({ verdicts, today }: Preview, which: 'verdicts' | 'today' = 'verdicts'): unknown[] {
  return (which === 'verdicts' ? verdicts : today).map((each) => [
    each.workload.split('/').at(-1),
    each.source.split('/').at(-1),
    each.reloads,
    each.reason,
  ]);
}

describe('if the data of a source changed', () => {
  const workloads = [
    workload('auto'),
    workload('elsewhere', { uses: ['ConfigMap/other'], dependencies: ['ConfigMap/other'] }),
    workload('nothing', { annotations: {}, dependencies: [] }),
    workload('named', { ...none, annotations: { [KEYS.configMapReload]: 'c.*' } }),
    workload('misnamed', { ...none, annotations: { [KEYS.configMapReload]: 'd.*' } }),
    workload('excluding', {
      ...none,
      annotations: { [KEYS.configMapReload]: 'c.*', [KEYS.configMapExclude]: 'cm' },
    }),
    workload('mentioning', { uses: [], dependencies: [], mentions: ['ConfigMap/cm'] }),
    workload('recorded', { ...none, record: recordOf({ cm: 'a' }) }),
    workload('finished', { leftAlone: 'JobFinished' }, 'Job'),
  ];

  it('no more than the first ten thousand are listed, but all are counted', () => {
    const many = Array.from({ length: MOST_LISTED + 1 }, (_, at) => workload(`many-${at}`));
    const annotations = { [KEYS.ignore]: 'true' };
    const preview = previewSource({
      source,
      workloads: many,
      annotations,
      settings,
      from,
    });
    expect([preview.verdicts.length, preview.today.length]).toEqual([MOST_LISTED, MOST_LISTED]);
    expect(preview.conclusion).toBe(
      "0 workloads would reload, 10001 would be left alone. 10001 verdicts differ from today's. Only the first 10000 verdicts are listed.",
    );
  });

  it('of many in any order, hardly more than the first ten thousand are held, and these are listed', () => {
    const count = 1.5 * MOST_LISTED;
    const nameAt = (at: number): string => `w-${String(at).padStart(5, '0')}`;
    const annotations = { [KEYS.ignore]: 'true' };
    const plan = planOfSource({ source, workloads: [], annotations, settings, from });
    const found = new PreviewedPairs(plan);
    let most = 0;
    for (let at = 0; at < count; at += 1) {
      // 7919 has no divisor in common with their number: each comes once.
      const workloads = [workload(nameAt((at * 7919) % count))];
      const { pairs } = planOfSource({ source, workloads, annotations, settings, from });
      for (const _ of found.add(pairs)) most = Math.max(most, found.held);
    }
    const preview = found.preview();
    const first = Array.from({ length: MOST_LISTED }, (_, at) => nameAt(at));
    expect(told(preview).map((each) => (each as string[])[0])).toEqual(first);
    expect(told(preview, 'today').map((each) => (each as string[])[0])).toEqual(first);
    expect(preview.conclusion).toMatch(
      /^0 workloads would reload, 15000 would be left alone\. 15000 verdicts/u,
    );
    // Of each list, a tenth more than is listed.
    expect(most).toBeLessThanOrEqual(2.2 * MOST_LISTED);
  });

  it('those that would reload come first, then those that have to do with it and would not', () => {
    const preview = previewSource({ source, workloads, settings, from });
    expect(told(preview)).toEqual([
      ['auto', 'cm', true, 'AutoReload'],
      ['named', 'cm', true, 'NamedByAnnotation'],
      ['excluding', 'cm', false, 'SourceExcluded'],
      ['mentioning', 'cm', false, 'NoContainer'],
      ['nothing', 'cm', false, 'NotAnnotated'],
      ['recorded', 'cm', false, 'NotAnnotated'],
      ['finished', 'cm', false, 'JobFinished'],
    ]);
    expect(preview.today).toEqual([]);
    expect(preview.conclusion).toBe('2 workloads would reload, 5 would be left alone.');
  });

  it('in a dry run, what would reload without it, and that nothing is patched', () => {
    const preview = previewSource({ source, workloads, settings: { ...settings, dryRun: true }, from });
    expect(told(preview)).toEqual(told(previewSource({ source, workloads, settings, from })));
    expect(preview.conclusion).toBe(
      '2 workloads would reload, 5 would be left alone. This is a dry run (`--dry-run`): until it ends, nothing is patched.',
    );
  });

  it('with other annotations on it: what is today of that which differs', () => {
    const annotations = { [KEYS.ignore]: 'true', 'reloader.stakater.com/ingore': 'true', team: 'a' };
    const preview = previewSource({ source, workloads, annotations, settings, from });
    expect(told(preview).slice(0, 2)).toEqual([
      ['auto', 'cm', false, 'SourceIgnored'],
      ['excluding', 'cm', false, 'SourceIgnored'],
    ]);
    expect(told(preview, 'today').slice(0, 2)).toEqual([
      ['auto', 'cm', true, 'AutoReload'],
      ['named', 'cm', true, 'NamedByAnnotation'],
    ]);
    expect(preview.conclusion).toBe(
      `0 workloads would reload, 7 would be left alone. 6 verdicts differ from today's. ` +
        'The annotation "reloader.stakater.com/ingore" has no effect here.',
    );
  });

  it('comes in steps, one a pair, and in portions, and to the same', () => {
    const many = Array.from({ length: 4 }, (_, index) => workload(`w${index}`));
    const input = { source, workloads: many, settings, from } as const;
    const portion = (...workloads: ExplainedWorkload[]) => planOfSource({ ...input, workloads });
    const found = new PreviewedPairs(portion());
    const steps = found.add(portion(...many.slice(2)).pairs);
    expect([steps.next(), steps.next(), steps.next()].map(({ done }) => done)).toEqual([false, false, true]);
    for (const _ of found.add(portion(...many.slice(0, 2)).pairs)) continue;
    expect(found.preview()).toEqual(previewSource(input));
  });

  it('a long pattern is cut, of which explain shows all', () => {
    const pattern = `[${'c'.repeat(1_000)}]m`;
    const named = workload('named', { ...none, annotations: { [KEYS.configMapReload]: pattern } });
    const { verdicts } = previewSource({ source, workloads: [named], settings, from });
    expect(verdicts[0]?.detail).toMatch(/^"\[c{497}…$/u);
  });

  it('annotations of a source that does not exist are not tried, and that is said', () => {
    const absent = { key: source.key, row: undefined };
    const { conclusion } = previewSource({ source: absent, workloads, annotations: {}, settings, from });
    expect(conclusion).toMatch(/does not exist, so the annotations were not previewed/);
  });
});

describe('if a workload had other annotations', () => {
  const sources = new Map<SourceKey, SourceRow>([
    ['ConfigMap/ns/cm', sourceRow(5, 'a')],
    ['ConfigMap/ns/cm-2', sourceRow(5, 'a')],
    ['Secret/ns/cm-3', sourceRow(5, 'a')],
    ['ConfigMap/ns/ignored', sourceRow(5, 'a', { annotations: { [KEYS.ignore]: 'true' } })],
  ]);
  const preview = (of: ExplainedWorkload, annotations: Record<string, string>, more = {}): Preview =>
    previewWorkload({
      workload: of,
      proposed: { annotations, ...more },
      followers: [],
      sources,
      settings,
      from,
    });

  it('auto taken away, and a pattern instead: the sources that it meets, of its kind', () => {
    const found = preview(workload('web'), { [KEYS.configMapReload]: 'cm-.*,ignored,NOT,gone' });
    expect(told(found)).toEqual([
      ['web', 'cm-2', true, 'NamedByAnnotation'],
      ['web', 'cm', false, 'NotAnnotated'],
      ['web', 'gone', false, 'SourceAbsent'],
      ['web', 'ignored', false, 'SourceIgnored'],
    ]);
    expect(told(found, 'today')).toEqual([
      ['web', 'cm', true, 'AutoReload'],
      ['web', 'cm-2', false, 'NoContainer'],
      ['web', 'gone', false, 'NoContainer'],
    ]);
  });

  it('a pattern that meets more sources than a workload may depend on: it would be left alone', () => {
    const keys = { ...KEYS, limits: { ...DEFAULT_ANNOTATION_LIMITS, sources: 1 } };
    const limited = { ...settings, decision: { ...settings.decision, keys } };
    const found = previewWorkload({
      workload: workload('web'),
      proposed: { annotations: { [KEYS.configMapReload]: 'cm|cm-.*' } },
      followers: [],
      sources,
      settings: limited,
      from,
    });
    expect(told(found)).toEqual([
      ['web', 'cm', false, 'InvalidAnnotation'],
      ['web', 'cm-2', false, 'InvalidAnnotation'],
    ]);
  });

  it('the same annotations: nothing would change', () => {
    const found = preview(workload('web'), { [KEYS.auto]: 'true' });
    expect(found.conclusion).toBe(
      '1 workload would reload, 0 would be left alone. Nothing would change from today.',
    );
  });

  it('it is counted once, also with several sources of which it reloads for some', () => {
    const uses = ['ConfigMap/cm', 'ConfigMap/cm-2'];
    const row = { uses, dependencies: uses, mentions: ['ConfigMap/cm-3'] };
    const found = preview(workload('web', row), { [KEYS.auto]: 'true' });
    expect(told(found).map((each) => (each as unknown[])[2])).toEqual([true, true, false]);
    expect(found.conclusion).toContain('1 workload would reload, 0 would be left alone.');
  });

  it('to edit what decides ends a conflict, and to write what does not leaves it', () => {
    const contested = workload('web', { conflict: { before: ['t0'], strips: [1, 2, 3] } });
    expect(told(preview(contested, { [KEYS.auto]: 'true', team: 'b' }))).toEqual([
      ['web', 'cm', false, 'Contested'],
    ]);
    expect(told(preview(contested, { [KEYS.configMapAuto]: 'true' }))).toEqual([
      ['web', 'cm', true, 'AutoReload'],
    ]);
    const podAnnotations = { team: 'b' };
    expect(told(preview(contested, { [KEYS.auto]: 'true' }, { podAnnotations }))).toEqual([
      ['web', 'cm', true, 'AutoReload'],
    ]);
  });

  it('to edit the pod template ends a conflict of a Rollout that has it', () => {
    const owner = workload('web', { annotations: {} });
    const templateOwner = { key: owner.key, uid: 'web', generation: 1, rv: '10', isMarked: true };
    const conflict = { before: ['t0'], strips: [1, 2, 3] };
    const rollout = workload('roll', { templateOwner, conflict }, 'Rollout');
    const reasons = (proposed: ProposedAnnotations): unknown[] =>
      previewWorkload({ workload: owner, followers: [rollout], sources, settings, from, proposed })
        .verdicts.filter(({ workload: key }) => key === rollout.key)
        .map(({ reason }) => reason);
    expect(reasons({ annotations: { team: 'b' } })).toEqual(['Contested']);
    expect(reasons({ annotations: {}, podAnnotations: { team: 'b' } })).toEqual(['AutoReload']);
  });

  it('those of its pod template count if its own do not ask, and writing them is a rollout', () => {
    const found = preview(workload('web'), {}, { podAnnotations: { [KEYS.auto]: 'true' } });
    expect(told(found)).toEqual([['web', 'cm', true, 'AutoReload']]);
    expect(found.conclusion).toMatch(/starts a rollout by itself/);
  });

  it('what Reroll writes is not called useless, and what is misspelt is', () => {
    const written = { 'reroll.dev/applied': '{}', 'reroll.dev/next-job': 'web-1', [KEYS.pausedAt]: 'now' };
    const podAnnotations = { [KEYS.lastReloadedFrom]: '{}', 'reroll.dev/reload-request': '1' };
    const { conclusion } = preview(
      workload('web'),
      { ...written, 'reroll.dev/aplied': '' },
      { podAnnotations },
    );
    expect(conclusion.match(/The annotation "[^"]+" has no effect here/gu)).toEqual([
      'The annotation "reroll.dev/aplied" has no effect here',
    ]);
  });

  it('annotations of other systems stay', () => {
    const adopt = { 'configmap.fabric8.io/update-on-change': 'cm' };
    const keys = { ...KEYS, adopt: ['fabric8' as const] };
    const found = previewWorkload({
      workload: workload('web', { annotations: adopt }),
      proposed: { annotations: {} },
      followers: [],
      sources,
      settings: { ...settings, decision: { ...settings.decision, keys } },
      from,
    });
    expect(told(found)).toEqual([['web', 'cm', true, 'AdoptedAnnotation']]);
  });

  it('a Rollout that has its pod template is left to it once it asks itself, and asks itself once it does not', () => {
    const owner = workload('web', { annotations: {} });
    const templateOwner = { key: owner.key, uid: 'web', generation: 1, rv: '10', isMarked: true };
    const rollout = workload('roll', { templateOwner }, 'Rollout');
    const asking = { workload: owner, followers: [rollout], sources, settings, from } as const;
    const found = previewWorkload({ ...asking, proposed: { annotations: { [KEYS.auto]: 'true' } } });
    expect(told(found)).toEqual([
      ['web', 'cm', true, 'AutoReload'],
      ['roll', 'cm', false, 'WorkloadRefAnnotated'],
    ]);
    expect(told(found, 'today')).toEqual([
      ['roll', 'cm', true, 'AutoReload'],
      ['web', 'cm', false, 'NotAnnotated'],
    ]);
    const left = workload('roll', { templateOwner, leftAlone: 'WorkloadRefAnnotated' }, 'Rollout');
    const back = previewWorkload({
      ...asking,
      workload: workload('web'),
      followers: [left],
      proposed: { annotations: {} },
    });
    expect(told(back)).toEqual([
      ['roll', 'cm', true, 'AutoReload'],
      ['web', 'cm', false, 'NotAnnotated'],
    ]);
  });

  it('a Rollout beyond those that may follow it stays left alone', () => {
    const owner = workload('web', { annotations: { [KEYS.auto]: 'true' } });
    const templateOwner = { key: owner.key, uid: 'web', generation: 1, rv: '10', isMarked: true };
    const followers = [workload('roll', { templateOwner, leftAlone: 'TooManyRollouts' }, 'Rollout')];
    const input = { workload: owner, followers, sources, settings, from } as const;
    const found = previewWorkload({ ...input, proposed: { annotations: {} } });
    expect(told(found)).toContainEqual(['roll', 'cm', false, 'TooManyRollouts']);
  });
});

describe('a Rollout that follows a Deployment beyond a limit', () => {
  const most = { limit: 'listWords', key: KEYS.secretReload, most: 1_000 } as const;
  const [ofOwner, own] = [1_001, 1_002].map((given) => ({ ...most, given }));
  const owner = workload('web', { annotations: {}, excess: ofOwner });
  const templateOwner = { key: owner.key, uid: 'web', generation: 1, rv: '10', isMarked: true };

  it.each([
    ['reloads once the Deployment is within it', ofOwner, 'AutoReload'],
    ['is left alone if it exceeds one itself', own, 'InvalidAnnotation'],
  ])('%s', (_what, excess, reason) => {
    const followers = [workload('roll', { templateOwner, excess }, 'Rollout')];
    const sources = new Map<SourceKey, SourceRow>([[source.key, source.row]]);
    const proposed = { annotations: {} };
    const found = previewWorkload({ workload: owner, proposed, followers, sources, settings, from });
    expect(told(found)).toContainEqual(['roll', 'cm', reason === 'AutoReload', reason]);
  });
});

it('a Rollout that was read from the cluster keeps the excess of its Deployment, whatever is proposed for it', () => {
  const excess = { limit: 'listWords', key: KEYS.secretReload, most: 1_000, given: 1_001 } as const;
  const roll = workload('roll', { excess }, 'Rollout');
  const sources = new Map<SourceKey, SourceRow>([[source.key, source.row]]);
  const reasonsOf = (read: ExplainedWorkload): unknown[] =>
    previewWorkload({
      workload: read,
      proposed: { annotations: { [KEYS.auto]: 'true' } },
      followers: [],
      sources,
      settings,
      from: 'cluster',
    }).verdicts.map(({ reason }) => reason);
  expect(reasonsOf({ ...roll, ownerExcess: excess })).toEqual(['InvalidAnnotation']);
  expect(reasonsOf(roll)).toEqual(['AutoReload']);
});

describe('what would hold the reload now', () => {
  const now = Date.parse('2026-11-25T12:00:00Z');
  const holding = (annotations: Record<string, string>, name = 'web'): ExplainedWorkload =>
    workload(name, { annotations: { [KEYS.auto]: 'true', ...annotations } });
  const frozen = { 'reroll.dev/freeze': '2026-12-31T00:00:00Z; audit' };
  const heldBy = ({ verdicts }: Preview): unknown =>
    verdicts.map(({ held }) => held && [held.reason, held.until, held.detail]);

  it.each([
    ['nothing', {}, {}, undefined],
    [
      'its annotations',
      frozen,
      {},
      ['Frozen', Date.parse('2026-12-31T00:00:00Z'), expect.stringContaining('audit')],
    ],
    [
      'an approval, of which the id is not known',
      { 'reroll.dev/approval': 'required' },
      {},
      ['AwaitsApproval', undefined, expect.stringContaining('until someone approves what is pending')],
    ],
    [
      'a flag',
      {},
      { window: '22:00-23:00' },
      ['OutsideWindow', Date.parse('2026-11-25T22:00:00Z'), expect.stringContaining('is closed until')],
    ],
    [
      'no flag that its annotation overrules',
      { 'reroll.dev/window': 'always' },
      { window: '22:00-23:00' },
      undefined,
    ],
  ])('is told: %s', (_what, annotations, holds, expected) => {
    const workloads = [holding(annotations)];
    const told = previewSource({ source, workloads, settings: { ...settings, holds }, from, now });
    expect(heldBy(told)).toEqual([expected]);
  });

  it('is told of the annotations that are proposed, and not of what does not reload', () => {
    const proposed = { annotations: { [KEYS.auto]: 'true', ...frozen } };
    const sources = new Map<SourceKey, SourceRow>([[source.key, source.row]]);
    const input = { workload: holding({}), followers: [], sources, settings, from, now } as const;
    const { verdicts } = previewWorkload({ ...input, proposed });
    expect(verdicts.map(({ held }) => held?.reason)).toEqual(['Frozen']);
    const ignored = previewSource({
      source,
      workloads: [workload('idle', { annotations: frozen })],
      settings,
      from,
      now,
    });
    expect(heldBy(ignored)).toEqual([undefined]);
  });
});

describe('in which wave a workload would reload', () => {
  const placed = (name: string, annotations: Record<string, string> = {}): ExplainedWorkload =>
    workload(name, { annotations: { [KEYS.auto]: 'true', ...annotations } });
  const workloads = [
    workload('idle', none),
    placed('a'),
    placed('b'),
    placed('c', { 'reroll.dev/wave': '0' }),
    workload('out', { annotations: {} }),
  ];
  const waves = { 'reroll.dev/waves': '1,2' };
  const wavesOf = ({ verdicts }: Preview): unknown =>
    verdicts.map(({ workload: key, wave }) => [key.split('/').at(-1), wave]);
  const IN_WAVES = [
    ['c', 1],
    ['a', 2],
    ['b', 3],
    ['out', undefined],
  ];
  const waved = { ...source, row: { ...source.row, annotations: waves } };

  it.each([
    ['by the source', { source: waved }],
    ['by the annotations that are proposed for it', { annotations: waves }],
    ['by its Namespace', { namespaces: { namespace: waves, installation: {} } }],
    ['by a flag', { settings: { ...settings, holds: { waves: '1,2' } } }],
  ])('is told, in that order, %s', (_by, more) => {
    const told = previewSource({ source, workloads, settings, from, ...more });
    expect(wavesOf(told)).toEqual(IN_WAVES);
    expect(told.conclusion).toContain('They would reload in 3 waves, of 1, 1, 1.');
    expect(told.conclusion).not.toMatch(/has no effect|Nothing would change/u);
  });

  it('is told of the first ten thousand, by the number of all', () => {
    const names = Array.from({ length: MOST_LISTED + 2_000 }, (_, at) => `w-${String(at).padStart(5, '0')}`);
    // The last by name is the first in the waves.
    const last = names.at(-1) ?? '';
    const many = names.map((name) => placed(name, name === last ? { 'reroll.dev/wave': '0' } : {}));
    const half = { ...source, row: { ...source.row, annotations: { 'reroll.dev/waves': '1,50%' } } };
    const { verdicts, conclusion } = previewSource({ source: half, workloads: many, settings, from });
    const waveAt = (at: number): unknown => [verdicts[at]?.workload.split('/').at(-1), verdicts[at]?.wave];
    expect([0, 1, 5_999, 6_000, 9_999].map(waveAt)).toEqual([
      [last, 1],
      ['w-00000', 2],
      ['w-05998', 2],
      ['w-05999', 3],
      ['w-09998', 3],
    ]);
    expect(conclusion).toContain('They would reload in 3 waves, of 1, 5999, 6000.');
  });

  it('is not told without waves, or with one', () => {
    const none = previewSource({ source, workloads, settings, from });
    expect(wavesOf(none)).toEqual(['a', 'b', 'c', 'out'].map((name) => [name, undefined]));
    const one = previewSource({
      source,
      workloads,
      annotations: { 'reroll.dev/waves': '100%' },
      settings,
      from,
    });
    expect(one.conclusion).not.toContain('waves');
  });

  it.each([
    [{ 'reroll.dev/waves': 'half' }, 'The waves cannot be read: expected at most 10 numbers or percentages'],
    [
      { ...waves, 'reroll.dev/bake': '2d' },
      'The bake time cannot be read: expected a duration of at most 1h.',
    ],
  ])('cannot be told if %j cannot be read', (annotations, problem) => {
    const { conclusion } = previewSource({ source, workloads, annotations, settings, from });
    expect(conclusion).toContain(problem);
    expect(conclusion).toContain('Until that is mended, its changes reload nothing.');
  });
});
