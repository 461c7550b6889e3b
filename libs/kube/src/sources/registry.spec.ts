import { expect, test } from 'vitest';
import { SOURCE_DEFINITIONS, sourceKind } from './registry.ts';

const metadata = { name: 'a', namespace: 'b', uid: 'c', resourceVersion: '1' };

test('every kind is found by its name', () => {
  expect(SOURCE_DEFINITIONS.map(({ kind }) => sourceKind(kind)?.plural)).toEqual(['configmaps', 'secrets']);
  expect(sourceKind('SecretProviderClass')).toBeUndefined();
});

test('ignored types of Secret become a field selector, its separators escaped', () => {
  const filter = { ignoredSecretTypes: ['helm.sh/release.v1', String.raw`odd,=\type`] };
  const escaped = String.raw`type!=odd\,\=\\type`;
  expect(sourceKind('Secret')?.fieldSelector(filter)).toBe(`type!=helm.sh/release.v1,${escaped}`);
  expect(sourceKind('Secret')?.fieldSelector({ ignoredSecretTypes: [] })).toBeUndefined();
  expect(sourceKind('ConfigMap')?.fieldSelector(filter)).toBeUndefined();
});

test('data is what is hashed, and nothing else of the object', () => {
  const raw = { metadata, data: { a: 'x' }, binaryData: { b: 'eA==' }, immutable: true, type: 'Opaque' };
  expect(sourceKind('ConfigMap')?.data(raw)).toEqual({ data: { a: 'x' }, binaryData: { b: 'eA==' } });
  expect(sourceKind('Secret')?.data(raw)).toEqual({ data: { a: 'x' } });
});

test('only a Secret of the type kubernetes.io/tls has certificates', () => {
  const raw = { metadata, type: 'kubernetes.io/tls', data: { 'tls.crt': 'eA==', 'tls.key': 'eQ==' } };
  expect(sourceKind('Secret')?.certificates?.(raw)).toBe('eA==');
  const opaque = { ...raw, type: 'Opaque' };
  expect(sourceKind('Secret')?.certificates?.(opaque)).toBeUndefined();
  expect(sourceKind('ConfigMap')?.certificates).toBeUndefined();
});
