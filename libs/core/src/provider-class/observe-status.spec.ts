import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashKey } from '../record/record-hash.ts';
import { iterated } from '../testing/iterated.ts';
import { observeStatus, type StatusObject } from './observe-status.ts';

type Objects = NonNullable<StatusObject['status']>['objects'];

function statusOf(objects: Objects, more: Partial<StatusObject['metadata']> = {}): StatusObject {
  const metadata = { name: 'web-1-ns-vault', namespace: 'ns', uid: 'u', resourceVersion: '7', ...more };
  return { metadata, status: { secretProviderClassName: 'vault', objects } };
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

describe('the hash in the marker', () => {
  it.each<[string, Objects, string]>([
    [
      'is over id=version of each object and the name of the class, sorted, joined with semicolons',
      [
        { id: 'secret/b', version: '2' },
        { id: 'secret/a', version: '1' },
      ],
      'SecretProviderClassName=vault;secret/a=1;secret/b=2',
    ],
    [
      'counts two objects of one id',
      [
        { id: 'a', version: '2' },
        { id: 'a', version: '1' },
      ],
      'SecretProviderClassName=vault;a=1;a=2',
    ],
    ['takes an object without a version', [{ id: 'a' }], 'SecretProviderClassName=vault;a='],
  ])('%s', (_, objects, text) => {
    expect(observeStatus(statusOf(objects), []).markerHash).toBe(sha1(text));
  });
});

describe('a status', () => {
  it('of many objects with one id is read in time for their number', () => {
    const many = (count: number) => Array.from({ length: count }, () => ({ id: 'a', version: '1' }));
    const work = (count: number) => iterated(() => observeStatus(statusOf(many(count)), []));
    expect(work(2_000)).toBeLessThan(4 * work(1_000));
    expect(work(2_000)).toBeLessThan(20_000);
  });

  it('is of the class that it names, in its own namespace', () => {
    const seen = observeStatus(statusOf([{ id: 'a', version: '1' }]), []);
    expect(seen).toMatchObject({
      key: 'SecretProviderClassPodStatus/ns/web-1-ns-vault',
      source: 'SecretProviderClass/ns/vault',
      rv: '7',
    });
  });

  it.each<[string, Objects]>([
    ['no objects', undefined],
    ['null for objects', null],
    ['an empty list of objects', []],
  ])('with %s has nothing mounted', (_, objects) => {
    expect(observeStatus(statusOf(objects), []).hashes).toEqual([]);
  });

  it('that the driver has not written yet is of no class', () => {
    const { metadata } = statusOf([]);
    expect(observeStatus({ metadata }, [])).toMatchObject({ source: undefined, hashes: [] });
  });

  it('can be told from another version, another id and another order of nothing', () => {
    const hash = (objects: Objects): string | undefined => observeStatus(statusOf(objects), []).hashes[0];
    const [a, b] = [
      { id: 'a', version: '1' },
      { id: 'b', version: '1' },
    ];
    expect(hash([a, b])).toBe(hash([b, a]));
    expect(new Set([hash([a]), hash([b]), hash([a, b]), hash([{ id: 'a', version: '2' }])]).size).toBe(4);
  });

  it('has its hash under each key that a row may be under, the present one first', () => {
    const keys = ['new', 'old'].map((text) => hashKey(Buffer.from(text)));
    const { hashes } = observeStatus(statusOf([{ id: 'a', version: '1' }]), keys);
    expect(hashes.map((hash) => hash.slice(0, hash.indexOf('.')))).toEqual([
      ...keys.map(({ id }) => `k${id}`),
      '1',
    ]);
  });

  it.each<[string, StatusObject['metadata']['managedFields'], number]>([
    [
      'the last write of the driver, whoever wrote the metadata later',
      [
        { time: '1970-01-01T00:01:00Z', fieldsV1: { 'f:metadata': {}, 'f:status': { 'f:objects': {} } } },
        { time: '1970-01-01T00:02:00Z', fieldsV1: { 'f:metadata': { 'f:labels': {} } } },
      ],
      60,
    ],
    [
      'the later of two who wrote the status',
      [
        { time: '1970-01-01T00:01:00Z', fieldsV1: { 'f:status': {} } },
        { time: '1970-01-01T00:02:00Z', fieldsV1: { 'f:status': {} } },
      ],
      120,
    ],
    ['not known if nobody owns it', [{ time: '1970-01-01T00:02:00Z', fieldsV1: { 'f:metadata': {} } }], 0],
    ['not known without managedFields', undefined, 0],
  ])('has as time at which its versions were there %s', (_, managedFields, expected) => {
    const seen = observeStatus(statusOf([{ id: 'a', version: '1' }], { managedFields }), []);
    expect(seen.shownAt).toBe(expected);
  });

  it.each([
    ['0 if the driver wrote it once', '2026-11-21T06:00:00Z', 0],
    ['that of the rotation', '2026-11-21T07:00:00Z', Date.parse('2026-11-21T07:00:00Z') / 1000],
  ])('has as time of its data %s', (_, time, expected) => {
    const more = { creationTimestamp: '2026-11-21T06:00:00Z', managedFields: [{ time }] };
    expect(observeStatus(statusOf([{ id: 'a', version: '1' }], more), []).modifiedAt).toBe(expected);
  });
});
