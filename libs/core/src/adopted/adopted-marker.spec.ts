import { describe, expect, it } from 'vitest';
import type { AdoptedSystem } from './adopted.ts';
import type { PodTemplate, SourceData, SourceKind } from '../model.ts';
import { isAdoptedMark } from './adopted-marker.ts';

/** A template in which every container has these variables. */
function withVariables(...env: readonly { name: string; value?: string }[]): PodTemplate {
  return { spec: { containers: ['app', 'side'].map((name) => ({ name, env })) } };
}

function withAnnotation(key: string, value: string): PodTemplate {
  return { metadata: { annotations: { [key]: value } } };
}

function isMarked(
  template: PodTemplate,
  source: { kind?: SourceKind; name?: string; data: SourceData },
  systems: readonly AdoptedSystem[] = ['fabric8', 'trigger'],
): boolean {
  const { kind = 'ConfigMap', name = 'cm', data } = source;
  return isAdoptedMark(template, { id: { kind, name }, data }, systems);
}

const FOO = { foo: 'bar' };
const TWO = { b: '2', a: '1' };

describe('the variable of ConfigmapController', () => {
  const variable = (value: string) => withVariables({ name: 'FABRIC8_CM_CONFIGMAP', value });

  it.each<[string, Record<string, string>]>([
    ['O6iQfnolIydIjfOQ7VF8Rblt6tAzYAIZvcpxB9HT-Io=', FOO],
    ['AQLMWa-DWdqd4i0439EvrV5iYvpCYwngonOlPCvJ2X0=', TWO],
    ['47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=', {}],
    ['foo=bar', FOO],
    ['a=1;b=2', TWO],
  ])('%s is that of %j', (value, data) => {
    expect(isMarked(variable(value), { data: { data } })).toBe(true);
    expect(isMarked(variable(value), { data: { data: { ...data, c: '3' } } })).toBe(false);
    expect(isMarked(variable(value), { data: { data, binaryData: { c: 'AAE=' } } })).toBe(true);
  });

  it('without a value, as the API serves an empty one, is that of no data', () => {
    expect(isMarked(withVariables({ name: 'FABRIC8_CM_CONFIGMAP' }), { data: {} })).toBe(true);
  });

  it.each([
    ['my-config', 'FABRIC8_MY_CONFIG_CONFIGMAP'],
    ['a.b-c', 'FABRIC8_A_B_C_CONFIGMAP'],
    ['a.b-c', 'FABRIC8_A.B_C_CONFIGMAP'],
    ['my-config', 'FABRIC8_MY-CONFIG_CONFIGMAP'],
  ])('of %s is %s', (name, variableName) => {
    const template = withVariables({ name: variableName, value: 'foo=bar' });
    expect(isMarked(template, { name, data: { data: FOO } })).toBe(true);
    expect(isMarked(template, { name: 'other', data: { data: FOO } })).toBe(false);
  });

  it('proves nothing if a container has another value, if none has it, for a Secret, and without --adopt=fabric8', () => {
    const env = (value: string) => [{ name: 'FABRIC8_CM_CONFIGMAP', value }];
    const mixed = {
      spec: {
        containers: [
          { name: 'a', env: env('foo=bar') },
          { name: 'b', env: env('x=1') },
        ],
      },
    };
    expect(isMarked(mixed, { data: { data: FOO } })).toBe(false);
    expect(isMarked(withVariables(), { data: {} })).toBe(false);
    expect(isMarked(variable('foo=bar'), { kind: 'Secret', data: { data: FOO } })).toBe(false);
    expect(isMarked(variable('foo=bar'), { data: { data: FOO } }, ['trigger', 'wave'])).toBe(false);
  });
});

describe('the annotation of k8s-trigger-controller', () => {
  const ofConfigMap = 'trigger.k8s.io/configMap-cm-last-hash';
  const ofSecret = 'trigger.k8s.io/secret-cm-last-hash';

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['8843d7f92416211de9ebb963ff4ce28125932878', FOO, { foo: 'YmFy' }],
    ['8252bf8992ff56621589ea3a3c32658172b1651a', TWO, { b: 'Mg==', a: 'MQ==' }],
  ])('%s is that of a ConfigMap with %j and of a Secret with %j', (hash, text, base64) => {
    expect(isMarked(withAnnotation(ofConfigMap, hash), { data: { data: text } })).toBe(true);
    expect(isMarked(withAnnotation(ofConfigMap, hash), { data: { binaryData: base64 } })).toBe(true);
    expect(isMarked(withAnnotation(ofSecret, hash), { kind: 'Secret', data: { data: base64 } })).toBe(true);
    expect(isMarked(withAnnotation(ofConfigMap, hash), { data: { data: { ...text, c: '' } } })).toBe(false);
    expect(isMarked(withAnnotation(ofSecret, hash), { data: { data: text } })).toBe(false);
  });

  it('is none for a source without data, and proves nothing without --adopt=trigger', () => {
    expect(isMarked(withAnnotation(ofConfigMap, ''), { data: {} })).toBe(false);
    const marked = withAnnotation(ofConfigMap, '8843d7f92416211de9ebb963ff4ce28125932878');
    expect(isMarked(marked, { data: { data: FOO } }, ['fabric8', 'wave'])).toBe(false);
  });
});
