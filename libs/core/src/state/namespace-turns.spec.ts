import { expect, test } from 'vitest';
import type { SourceKey } from '../model.ts';
import { NamespaceTurns } from './namespace-turns.ts';

function turnsOf(...keys: readonly SourceKey[]): NamespaceTurns<SourceKey, number> {
  const turns = new NamespaceTurns<SourceKey, number>();
  for (const [n, key] of keys.entries()) turns.put(key, n);
  return turns;
}

function taken(turns: NamespaceTurns<SourceKey, number>): readonly SourceKey[] {
  const keys: SourceKey[] = [];
  for (let next = turns.take(); next; next = turns.take()) keys.push(next[0]);
  return keys;
}

test('namespaces take turns, and the objects of one come in the order in which they were put', () => {
  const turns = turnsOf('ConfigMap/a/1', 'ConfigMap/a/2', 'Secret/a/3', 'ConfigMap/b/1', 'ConfigMap/c/1');
  expect(taken(turns)).toEqual([
    'ConfigMap/a/1',
    'ConfigMap/b/1',
    'ConfigMap/c/1',
    'ConfigMap/a/2',
    'Secret/a/3',
  ]);
});

test('what is put back comes after the others, also once nothing was left', () => {
  const turns = turnsOf('ConfigMap/a/1');
  expect([taken(turns), turns.isEmpty]).toEqual([['ConfigMap/a/1'], true]);
  turns.put('ConfigMap/a/1', 1);
  turns.put('ConfigMap/a/2', 2);
  expect(turns.take()).toEqual(['ConfigMap/a/1', 1]);
  turns.put('ConfigMap/a/1', 3);
  expect(taken(turns)).toEqual(['ConfigMap/a/2', 'ConfigMap/a/1']);
});

test('what is put while it waits keeps its place, with the new value', () => {
  const turns = turnsOf('ConfigMap/a/1', 'ConfigMap/a/2');
  turns.put('ConfigMap/a/1', 7);
  expect(turns.get('ConfigMap/a/1')).toBe(7);
  expect(turns.take()).toEqual(['ConfigMap/a/1', 7]);
});

test('one too many is the first of the namespace with the most', () => {
  const turns = turnsOf('ConfigMap/b/1', 'ConfigMap/a/1', 'ConfigMap/a/2', 'ConfigMap/c/1', 'ConfigMap/a/3');
  turns.dropFromLargest();
  expect([turns.size, [...turns.of('a')], [...turns.of('d')], [...turns.values()]]).toEqual([
    4,
    [2, 4],
    [],
    [0, 2, 4, 3],
  ]);
  for (let left = 4; left > 0; left -= 1) {
    expect([turns.size, turns.isEmpty]).toEqual([left, false]);
    turns.dropFromLargest();
  }
  turns.dropFromLargest();
  expect([turns.size, turns.isEmpty, taken(turns)]).toEqual([0, true, []]);
});

test('its size counts each object once', () => {
  const turns = turnsOf('ConfigMap/a/1', 'ConfigMap/a/1', 'ConfigMap/b/1');
  expect(turns.size).toBe(2);
  turns.drop('ConfigMap/b/1');
  turns.drop('ConfigMap/b/1');
  expect(turns.size).toBe(1);
  turns.take();
  turns.take();
  expect(turns.size).toBe(0);
});

test('what is dropped does not come, nor does its namespace', () => {
  const turns = turnsOf('ConfigMap/a/1', 'ConfigMap/b/1', 'ConfigMap/b/2');
  turns.drop('ConfigMap/a/1');
  turns.drop('ConfigMap/b/1');
  turns.drop('ConfigMap/c/1');
  expect(taken(turns)).toEqual(['ConfigMap/b/2']);
});
