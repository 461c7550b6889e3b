import { describe, expect, it } from 'vitest';
import type { PodTemplate } from '../model.ts';
import { lastReloadedFrom } from './last-reloaded-from.ts';
import { templateMarks } from './template-marks.ts';

const MARKER = 'reloader.stakater.com/last-reloaded-from';
const cm = (name: string) => ({ kind: 'ConfigMap', name }) as const;
const text = (name: string) =>
  lastReloadedFrom({ ...cm(name), namespace: 'ns', hash: 'h9', containerRefs: ['a'], observedAt: 1 });

function template(...containers: NonNullable<NonNullable<PodTemplate['spec']>['containers']>): PodTemplate {
  return { metadata: { annotations: { [MARKER]: text('b') } }, spec: { containers } };
}

describe('the marks of a source in a pod template', () => {
  it('are the first variable of its container, and the annotation if that names it', () => {
    const env = [
      { name: 'STAKATER_A_CONFIGMAP', value: 'h1' },
      { name: 'STAKATER_A_CONFIGMAP', value: 'h2' },
      { name: 'STAKATER_B_CONFIGMAP', value: 'h3' },
    ];
    const of = templateMarks(template({ name: 'x', env }), MARKER);
    expect(of(cm('a'))).toEqual(['h1']);
    expect(of(cm('b'))).toEqual(['h3', 'h9']);
    expect(of(cm('c'))).toEqual([]);
    expect(of({ kind: 'Secret', name: 'b' })).toEqual([]);
  });

  it('are looked for in the container that uses it', () => {
    const marked = (value: string) => [{ name: 'STAKATER_A_CONFIGMAP', value }];
    const uses = { name: 'y', env: marked('h2'), envFrom: [{ configMapRef: { name: 'a' } }] };
    const of = templateMarks(template({ name: 'x', env: marked('h1') }, uses), MARKER);
    expect(of(cm('a'))).toEqual(['h2']);
  });

  it.each([{}, { spec: { containers: [] } }, { spec: { containers: [{ name: 'x' }] } }])(
    'are none in %j',
    (empty) => {
      expect(templateMarks(empty, MARKER)(cm('a'))).toEqual([]);
    },
  );

  it('are found in a template that is read once', () => {
    let reads = 0;
    const container = {
      name: 'x',
      get env() {
        reads += 1;
        return [{ name: 'STAKATER_A_CONFIGMAP', value: 'h1' }];
      },
    };
    const of = templateMarks(template(container), MARKER);
    const before = reads;
    for (let index = 0; index < 100; index += 1) expect(of(cm('a'))).toEqual(['h1']);
    expect(reads).toBe(before);
  });
});
