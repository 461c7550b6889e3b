import { expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { WAVES_ANNOTATION } from '../holds/hold.ts';
import { observeSource } from './observe.ts';

it('a value is cut between two characters, as Redis cannot decode half of one', () => {
  const annotations = { [WAVES_ANNOTATION]: `${'x'.repeat(199)}😀 and more` };
  const metadata = { namespace: 'shop', name: 'settings', uid: 'u', resourceVersion: '7', annotations };
  const object = { kind: 'ConfigMap', metadata, data: {} } as const;
  const kept = observeSource(object, DEFAULT_ANNOTATION_KEYS, []).annotations[WAVES_ANNOTATION] ?? '';
  expect(kept.isWellFormed()).toBe(true);
  expect([kept.length, kept.startsWith('x'.repeat(199))]).toEqual([201, true]);
});
