import type { SourceKey } from '@reroll/core/model';
import {
  array,
  assert,
  bigInt,
  boolean,
  dictionary,
  nat,
  option,
  property,
  record,
  string,
  type Arbitrary,
} from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SourceRow, WorkloadRow } from '@reroll/core/state/rows';
import { decodeSource, decodeWorkload, encodeSource, encodeWorkload } from './row-codec.ts';
import { sourceRow, workloadRow } from './testing/rows.ts';

const rv = bigInt({ min: 0n, max: 2n ** 80n }).map(String);
const text = string({ unit: 'binary' });
const texts = array(text, { maxLength: 5 });
const map = dictionary(text, text, { maxKeys: 5, noNullPrototype: true });
const seconds = nat();

const sources: Arbitrary<SourceRow> = record({
  hash: text,
  rv,
  dataRv: rv,
  exists: boolean(),
  modifiedAt: seconds,
  annotations: map,
});

const workloads: Arbitrary<WorkloadRow> = record({
  uid: text,
  generation: nat(),
  rv,
  createdAt: seconds,
  template: text,
  templateRv: rv,
  hasContainers: boolean(),
  uses: texts,
  mentions: texts,
  marks: texts,
  dependencies: texts,
  unverified: texts,
  stale: texts,
  baselines: dictionary(text, rv, { maxKeys: 5, noNullPrototype: true }),
  annotations: map,
  podAnnotations: map,
  record: option(text, { nil: undefined }),
  resumeAt: option(nat(), { nil: undefined }),
});

it.each([{ isSuspended: true }, {}])('a CronJob comes back with %j', (more) => {
  const row = workloadRow(more);
  expect(decodeWorkload(encodeWorkload(row, []))).toEqual(row);
});

it('a restart of a workload comes back too', () => {
  const row = workloadRow({ restartAt: 1_795_219_191 });
  expect(decodeWorkload(encodeWorkload(row, []))?.restartAt).toBe(1_795_219_191);
});

it('the workload whose pod template another one has comes back too', () => {
  const templateOwner = {
    key: 'Deployment/ns/web',
    uid: 'u',
    generation: 3,
    rv: '7',
    isMarked: true,
    templateRv: '5',
    sharers: ['Rollout/ns/other'],
  } as const;
  const row = workloadRow({ templateOwner });
  expect(decodeWorkload(encodeWorkload(row, []))?.templateOwner).toEqual(templateOwner);
  const other = { ...templateOwner, sharers: 'Rollout/ns/other' };
  expect(decodeWorkload(encodeWorkload({ ...row, templateOwner: other as never }, []))).toBeUndefined();
});

it('the marker of a SecretProviderClass, and which write its annotations are of, come back too', () => {
  const row = sourceRow({ providerClass: { markerHash: 'a1', rv: '9', shownAt: 7, otherHashes: ['1.a'] } });
  expect(decodeSource(encodeSource(row))).toEqual(row);
});

it.each(['created', 'returned', 'isUnwatched'])('that a source is marked as %s comes back too', (how) => {
  const row = sourceRow({ [how]: true });
  expect(decodeSource(encodeSource(row))).toEqual(row);
});

it('why a workload is left alone comes back too', () => {
  const row = workloadRow({ leftAlone: 'JobFinished' });
  expect(decodeWorkload(encodeWorkload(row, []))?.leftAlone).toBe('JobFinished');
});

describe('a row comes back as it was written:', () => {
  it('any source', () => {
    assert(
      property(sources, (row) => {
        expect(decodeSource(encodeSource(row))).toEqual(row);
      }),
    );
  });

  it('any workload, whatever it is indexed under', () => {
    assert(
      property(workloads, texts as Arbitrary<SourceKey[]>, (row, index) => {
        expect(decodeWorkload(encodeWorkload(row, index))).toEqual(row);
      }),
    );
  });
});

describe('a row as Redis holds it', () => {
  it('leaves out what is as usual', () => {
    expect(JSON.parse(encodeSource(sourceRow()))).toEqual({ h: '1.A', v: '10', d: '10', m: 1_700_000_000 });
    expect(Object.keys(JSON.parse(encodeWorkload(workloadRow(), [])) as object).sort()).toEqual(
      ['c', 'g', 'i', 't', 'tv', 'u', 'v'].sort(),
    );
  });

  it('names the sources that the workload is indexed under', () => {
    const wire = JSON.parse(encodeWorkload(workloadRow(), ['Secret/shop/keys'])) as { i: unknown };
    expect(wire.i).toEqual(['Secret/shop/keys']);
  });
});
