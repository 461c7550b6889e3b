import { expect, it } from 'vitest';
import { Outbox } from './outbox.ts';

const KEYS = Array.from({ length: 1_000 }, (_, index) => `ConfigMap/ns/cm-${index}` as const);
const WORKLOADS = KEYS.map((_, index) => `Deployment/ns/web-${index}` as const);

/** Keys that count how many of them were read. */
function counted<ObjectKey>(keys: readonly ObjectKey[]): { keys: Iterable<ObjectKey>; read: () => number } {
  let read = 0;
  function* each(): Generator<ObjectKey> {
    for (const key of keys) {
      read += 1;
      yield key;
    }
  }
  return { keys: each(), read: () => read };
}

function sourcesOf(outbox: Outbox, most: number): string[] {
  return outbox.takeRows(most).sources.map(([key]) => key);
}

it('reads no key to have every row written, and as many as are taken', () => {
  const outbox = new Outbox();
  const sources = counted(KEYS);
  outbox.writeAll(sources.keys, []);
  expect([sources.read(), outbox.hasRows]).toEqual([0, true]);
  expect(sourcesOf(outbox, 250)).toEqual(KEYS.slice(0, 250));
  expect(sources.read()).toBe(250);
});

it('gives every row once, those that changed first', () => {
  const outbox = new Outbox();
  outbox.writeAll(KEYS, []);
  outbox.writeSource('ConfigMap/ns/cm-700');
  outbox.writeSource('ConfigMap/ns/gone');
  const first = sourcesOf(outbox, 1_000);
  expect(first.slice(0, 3)).toEqual(['ConfigMap/ns/cm-700', 'ConfigMap/ns/gone', 'ConfigMap/ns/cm-0']);
  expect(new Set(first).size).toBe(1_000);
  expect(sourcesOf(outbox, 1_000)).toEqual(['ConfigMap/ns/cm-999']);
  expect(outbox.isEmpty()).toBe(true);
});

it('has rows until the last of them was looked for, and none once it is cleared', () => {
  const outbox = new Outbox();
  outbox.writeAll([], WORKLOADS);
  outbox.takeRows(1_000);
  expect(outbox.hasRows).toBe(true);
  expect(outbox.takeRows(1)).toEqual({ sources: [], workloads: [], readings: new Map() });
  expect(outbox.hasRows).toBe(false);
  outbox.writeAll(KEYS, WORKLOADS);
  outbox.clear();
  expect(outbox.hasRows).toBe(false);
});

it('gives the hashes of a source with its row, once', () => {
  const reading = { rv: '1', hash: '1.A', markerHash: 'f00' } as const;
  const outbox = new Outbox();
  for (const key of KEYS.slice(0, 3)) {
    outbox.writeSource(key);
    outbox.leaveReading(key, { ...reading, rv: '0' });
    outbox.leaveReading(key, reading);
  }
  expect([...outbox.takeRows(1).readings]).toEqual([[KEYS[0], reading]]);
  outbox.writeSource('ConfigMap/ns/cm-0');
  outbox.dropChangeOf('ConfigMap/ns/cm-1');
  expect([...outbox.takeRows(2).readings]).toEqual([[KEYS[2], reading]]);
  outbox.leaveReading('ConfigMap/ns/cm-0', reading);
  outbox.clear();
  outbox.writeSource('ConfigMap/ns/cm-0');
  expect(outbox.takeRows(3).readings.size).toBe(0);
});

it('gives jobs again that were put back', () => {
  const outbox = new Outbox();
  outbox.enqueueChange('ConfigMap/ns/cm');
  outbox.enqueueReload('Deployment/ns/web', 'owed');
  outbox.enqueueResume('Deployment/ns/web');
  const jobs = outbox.takeJobs(10);
  expect(outbox.isEmpty()).toBe(true);
  outbox.putBackJobs(jobs);
  expect(outbox.takeJobs(10)).toEqual(jobs);
});
