import { describe, expect, test } from 'vitest';
import type { Annotations } from '../model.ts';
import { writeRecord } from '../record/record.ts';
import type { SourceRow } from '../state/rows.ts';
import { pendingId, pendingIdIn, type PendingChanges } from './approval.ts';
import { freezeText, MOST_FREEZE_REASON } from './freeze.ts';
import { namespaceAnnotations } from '../state/observe.ts';
import { passedHolds, readPassedHolds } from './passed.ts';
import { holdOf, limitOf, type HoldInput } from './reload-hold.ts';

const NOW = Date.parse('2026-11-25T12:00:00Z');

function held(input: Partial<HoldInput>) {
  return holdOf({
    workload: {},
    namespace: {},
    installation: {},
    defaults: {},
    record: undefined,
    id: 'abc',
    now: NOW,
    ...input,
  });
}

const freeze = (text: string): Annotations => ({ 'reroll.dev/freeze': text });
const window = (text: string): Annotations => ({ 'reroll.dev/window': text });
const approval = (text: string): Annotations => ({ 'reroll.dev/approval': text });
const limit = (text: string): Annotations => ({ 'reroll.dev/reload-limit': text });
/** Reloaded so many times, a second apart, the last time a minute ago. */
const reloaded = (times: number): string =>
  writeRecord({}, undefined, {
    times: Array.from({ length: times }, (_, at) => NOW / 1000 - 60 - (times - 1 - at)),
    level: 0,
  });

test('nothing holds a workload without annotations', () => {
  expect(held({})).toBeUndefined();
});

describe('a freeze', () => {
  test.each([
    ['', undefined, 'The workload is frozen until somebody ends it'],
    ['year-end', undefined, 'The workload is frozen until somebody ends it: year-end'],
    ['; year-end', undefined, 'The workload is frozen until somebody ends it: year-end'],
    ['a; b', undefined, 'The workload is frozen until somebody ends it: a; b'],
    ['2026-11-25T12:00:01Z', NOW + 1_000, 'The workload is frozen until 2026-11-25T12:00:01.000Z'],
    [
      '2026-11-25T14:00+01:00; audit; now',
      NOW + 3_600_000,
      'The workload is frozen until 2026-11-25T13:00:00.000Z: audit; now',
    ],
    [
      '2026-13-45T00:00:00Z; x',
      undefined,
      'its end cannot be read: expected a time such as 2026-12-31T00:00:00Z, given "2026-13-45T00:00:00Z"',
    ],
    ['2026-12-31', undefined, 'given "2026-12-31"'],
    ['2027-02-29T00:00:00Z', undefined, 'given "2027-02-29T00:00:00Z"'],
    ['2026-02-31T00:00:00Z; x', undefined, 'given "2026-02-31T00:00:00Z"'],
    ['9999-12-31T23:59:59-00:01', undefined, 'given "9999-12-31T23:59:59-00:01"'],
    ['2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29), 'until 2028-02-29T00:00:00.000Z'],
    ['2027-01-01T00:30:00+01:00', Date.UTC(2026, 11, 31, 23, 30), 'until 2026-12-31T23:30:00.000Z'],
  ])('%j', (text, until, detail) => {
    const hold = held({ workload: freeze(text) });
    expect(hold).toMatchObject({ reason: 'Frozen', detail: expect.stringContaining(detail) });
    expect(hold?.until).toBe(until);
  });

  test.each([
    [NOW + 1_000, 'audit; now'],
    [undefined, '2026-12-31T00:00:00Z'],
    [NOW + 1_000, 'x'.repeat(MOST_FREEZE_REASON)],
  ])('reads the text that freezeText makes of %j and %j, also from a row', (end, reason) => {
    const annotations = namespaceAnnotations(freeze(freezeText(end, reason)));
    const hold = held({ workload: annotations });
    expect(hold?.until).toBe(end);
    expect(hold?.detail).toMatch(new RegExp(`: ${reason}$`, 'u'));
  });

  test('that is over holds nothing', () => {
    expect(held({ workload: freeze('2026-11-25T12:00:00Z; over') })).toBeUndefined();
  });

  test('counts wherever it is set, and the one that ends last is told', () => {
    const by = { workload: freeze('2026-11-25T13:00:00Z'), namespace: freeze('2026-11-25T15:00:00Z') };
    expect(held(by)?.detail).toContain('The namespace is frozen until 2026-11-25T15');
    expect(held({ ...by, installation: { 'reroll.dev/freeze-all': '' } })?.detail).toContain(
      'The installation',
    );
    expect(held({ installation: freeze('') })).toBeUndefined();
    expect(held({ namespace: { 'reroll.dev/freeze-all': '' } })).toBeUndefined();
  });
});

describe('a window', () => {
  test('holds until it opens', () => {
    expect(held({ workload: window('13:00-14:00') })).toEqual({
      reason: 'OutsideWindow',
      until: NOW + 3_600_000,
      detail: 'The window "13:00-14:00" is closed until 2026-11-25T13:00:00.000Z',
    });
    expect(held({ workload: window('12:00-14:00') })).toBeUndefined();
  });

  test('that cannot be read holds and says so', () => {
    const hold = held({ workload: window('sometime') });
    expect(hold).toMatchObject({
      reason: 'OutsideWindow',
      detail: expect.stringContaining('given "sometime"'),
    });
    expect(hold?.until).toBeUndefined();
  });

  test('the nearest one counts', () => {
    const closed = window('13:00-14:00');
    expect(held({ workload: window('always'), namespace: closed })).toBeUndefined();
    expect(held({ namespace: closed, defaults: { window: 'always' } })?.reason).toBe('OutsideWindow');
    expect(held({ defaults: { window: '13:00-14:00' } })?.reason).toBe('OutsideWindow');
  });
});

describe('an approval', () => {
  test('is needed for exactly what is pending', () => {
    const asked = approval('required');
    expect(held({ workload: asked })).toMatchObject({
      reason: 'AwaitsApproval',
      // Shown beside a button in the dashboard, and by the command line with a command.
      detail:
        'The pending reload has the id abc. It awaits approval by the annotation reroll.dev/approved: "abc"',
    });
    expect(held({ workload: { ...asked, 'reroll.dev/approved': 'abc' } })).toBeUndefined();
    expect(held({ workload: { ...asked, 'reroll.dev/approved': 'abd' } })?.reason).toBe('AwaitsApproval');
    expect(held({ namespace: { ...asked, 'reroll.dev/approved': 'abc' } })?.reason).toBe('AwaitsApproval');
  });

  test('is not needed where the workload says so', () => {
    expect(held({ workload: approval('none'), defaults: { approval: 'required' } })).toBeUndefined();
  });

  test('that cannot be read is needed', () => {
    expect(held({ workload: approval('yes') })?.detail).toContain('expected required or none, given "yes"');
  });
});

describe('a limit', () => {
  test('holds until the period is over', () => {
    const input = { workload: limit('3/10m'), record: reloaded(3) };
    expect(held(input)).toEqual({
      reason: 'TooOften',
      until: NOW - 62_000 + 601_000,
      detail:
        'It was reloaded 3 times since 2026-11-25T11:58:58.000Z, and waits until 2026-11-25T12:08:59.000Z',
    });
    expect(held({ ...input, record: reloaded(2) })).toBeUndefined();
    expect(held({ ...input, now: NOW + 539_000 })).toBeUndefined();
  });

  test.each(['0.zzzzzzzzz', '0.zz.zzzzzzzzz', `0.${(NOW / 1000 + 86_401).toString(36)}`])(
    'counts no reload of a record with impossible times: %s',
    (times) => {
      const record = JSON.stringify({ v: 1, s: {}, r: times });
      expect(held({ workload: limit('1/1h'), record })).toBeUndefined();
    },
  );

  test('counts those of a clock that is ahead', () => {
    const record = writeRecord({}, undefined, { times: [NOW / 1000 + 3_600], level: 0 });
    expect(held({ workload: limit('1/1h'), record })?.reason).toBe('TooOften');
  });

  test('the nearest one that can be read counts', () => {
    const defaults = { limit: '10/10m' };
    expect(limitOf({ workload: limit('none'), namespace: limit('1/1h'), defaults })).toBeUndefined();
    expect(limitOf({ workload: limit('often'), namespace: limit('1/1h'), defaults })?.count).toBe(1);
    expect(limitOf({ workload: {}, namespace: {}, defaults })?.count).toBe(10);
    expect(limitOf({ workload: {}, namespace: {}, defaults: {} })).toBeUndefined();
  });
});

test('the first hold in the chain is told', () => {
  const workload = {
    ...limit('1/1h'),
    ...approval('required'),
    ...window('13:00-14:00'),
    ...freeze('2026-11-25T12:30:00Z'),
  };
  const input = { workload, record: reloaded(1) };
  const reasons = [NOW, NOW + 1_800_000, NOW + 3_600_000].map((now) => held({ ...input, now })?.reason);
  expect(reasons).toEqual(['Frozen', 'OutsideWindow', 'AwaitsApproval']);
  const approved = { ...workload, 'reroll.dev/approved': 'abc' };
  expect(held({ ...input, workload: approved, now: NOW + 3_600_000 })).toBeUndefined();
  expect(held({ ...input, workload: { ...limit('1/1h') } })?.reason).toBe('TooOften');
});

test('the annotations of a Namespace are cut', () => {
  const found = namespaceAnnotations({
    ...freeze('x'.repeat(300)),
    'reroll.dev/freeze-all': 'y',
    other: 'z',
  });
  expect(Object.keys(found)).toEqual(['reroll.dev/freeze', 'reroll.dev/freeze-all']);
  expect(found['reroll.dev/freeze']).toHaveLength(201);
});

describe('the id of what is pending', () => {
  const row = (dataRv: string, exists = true): SourceRow => ({
    hash: '1.A',
    rv: '9',
    dataRv,
    exists,
    modifiedAt: 0,
    annotations: {},
  });
  const base: PendingChanges = {
    uid: 'u',
    sources: [
      ['Secret/a', row('5')],
      ['Secret/b', row('6')],
    ],
  };

  test('does not depend on the order of the sources', () => {
    expect(pendingId({ ...base, sources: base.sources.toReversed() })).toBe(pendingId(base));
    expect(pendingId(base)).toMatch(/^[0-9a-f]{10}$/u);
  });

  test('is another one for anything else', () => {
    const others: PendingChanges[] = [
      { ...base, uid: 'v' },
      { ...base, request: '1-2' },
      { ...base, sources: base.sources.slice(1) },
      {
        ...base,
        sources: [
          ['Secret/a', row('7')],
          ['Secret/b', row('6')],
        ],
      },
      {
        ...base,
        sources: [
          ['Secret/a', row('5', false)],
          ['Secret/b', row('6')],
        ],
      },
      {
        ...base,
        sources: [
          ['Secret/a', undefined],
          ['Secret/b', row('6')],
        ],
      },
    ];
    const ids = [base, ...others].map(pendingId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('is found in what is told of a workload that awaits an approval, and nowhere else', () => {
    const hold = held({ workload: approval('required'), id: pendingId(base) });
    expect(pendingIdIn(hold?.detail ?? '')).toBe(pendingId(base));
    expect(pendingIdIn('The workload is frozen until somebody ends it: abcdef0123')).toBeUndefined();
  });
});

describe('a manual reload', () => {
  const everything = {
    workload: {
      ...freeze('; audit'),
      ...window('whenever'),
      ...approval('required'),
      ...limit('1/1h'),
    },
    record: reloaded(1),
  };
  /** Frozen by its Namespace, and with the whole installation. */
  const ofAll = { namespace: freeze('; audit'), installation: { 'reroll.dev/freeze-all': '; incident' } };
  const approved = { ...everything, workload: { ...everything.workload, 'reroll.dev/approved': 'abc' } };

  test.each([
    [everything, {}, 'Frozen'],
    [everything, { now: true }, 'Frozen'],
    [everything, { overrideFreeze: true }, 'OutsideWindow'],
    [everything, { now: true, overrideFreeze: true }, 'AwaitsApproval'],
    [approved, { now: true }, 'Frozen'],
    [approved, { now: true, overrideFreeze: true }, undefined],
    [ofAll, { overrideFreeze: true }, 'Frozen'],
    [ofAll, { overrideFreezeOfAll: true }, 'Frozen'],
    [ofAll, { overrideFreeze: true, overrideFreezeOfAll: true }, undefined],
    [{ record: reloaded(1), workload: limit('1/1h') }, {}, 'TooOften'],
    [{ record: reloaded(1), workload: limit('1/1h') }, { now: true }, undefined],
  ])('of %j that passes %j is held by %s', (input, asked, reason) => {
    expect(held({ ...input, passes: passedHolds(asked) })?.reason).toBe(reason);
  });

  test.each([
    [undefined, []],
    ['Frozen', []],
    [
      ['Frozen', 'InstallationFrozen', 'OutsideWindow', 'TooOften'],
      ['Frozen', 'InstallationFrozen', 'OutsideWindow', 'TooOften'],
    ],
    [['AwaitsApproval', 'Reloaded', 7, null], []],
  ])('passes by what was stored as %j: %j', (stored, expected) => {
    expect(readPassedHolds(stored)).toEqual(expected);
  });
});
