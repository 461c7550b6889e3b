import { array, assert, constantFrom, json, property, record, string, oneof, integer } from 'fast-check';
import { describe, expect, it } from 'vitest';

import { SOURCE_KINDS } from '../model.ts';
import { lastReloadedFrom, parseLastReloadedFrom, type LastReloadedFrom } from './last-reloaded-from.ts';

const EXAMPLE: LastReloadedFrom = {
  kind: 'ConfigMap',
  namespace: 'ns',
  name: 'foo.bar--x',
  hash: 'ef642ba449c18f0684f686e869407e7d2275512f',
  containerRefs: ['app'],
  observedAt: 1_795_219_190,
};

const TEXT =
  '{"type":"CONFIGMAP","name":"foo.bar--x","namespace":"ns","hash":"ef642ba449c18f0684f686e869407e7d2275512f","containerRefs":["app"],"observedAt":1795219190}';

describe('the annotation last-reloaded-from', () => {
  it('is compact JSON with its fields in order', () => {
    expect(lastReloadedFrom(EXAMPLE)).toBe(TEXT);
  });

  it('has nothing in it but its fields', () => {
    const more = { auto: true, ...EXAMPLE };
    expect(lastReloadedFrom(more)).toBe(TEXT);
  });

  it('is read back', () => {
    expect(parseLastReloadedFrom(TEXT)).toEqual(EXAMPLE);
  });

  it('is escaped as Go escapes', () => {
    const text = lastReloadedFrom({ ...EXAMPLE, name: '<a>&\u2028' });
    expect(text).toContain(String.raw`"name":"\u003ca\u003e\u0026\u2028"`);
  });

  it('is read back whatever it holds', () => {
    const any = record({
      kind: constantFrom(...SOURCE_KINDS),
      namespace: string(),
      name: string({ unit: 'grapheme' }),
      hash: string(),
      containerRefs: array(string()),
      observedAt: integer({ min: -62_167_219_200, max: 253_402_300_799 }),
    });
    assert(
      property(any, (reloaded) => {
        expect(parseLastReloadedFrom(lastReloadedFrom(reloaded))).toEqual(reloaded);
      }),
    );
  });

  const others = {
    'no JSON': '{',
    'no object': '"x"',
    null: 'null',
    'an unknown type': TEXT.replace('CONFIGMAP', 'ConfigMap'),
    'no type': TEXT.replace('"type"', '"kind"'),
    'a name that is no text': TEXT.replace('"foo.bar--x"', '1'),
    'a namespace that is no text': TEXT.replace('"ns"', 'null'),
    'a hash that is no text': TEXT.replace(/"ef[^"]*"/, '[]'),
    'containers that are no list': TEXT.replace('["app"]', '"app"'),
    'containers that are no names': TEXT.replace('["app"]', '[1]'),
    'a time that is no number': TEXT.replace('1795219190', '"1795219190"'),
    'a time that is none': TEXT.replace('1795219190', '253402300800'),
    'a time with a fraction': TEXT.replace('1795219190', '1.5'),
  };

  it.each(Object.entries(others))('is not %s', (_, text) => {
    expect(parseLastReloadedFrom(text)).toBeUndefined();
  });

  it('does not throw, whatever somebody wrote', () => {
    assert(
      property(oneof(string(), json()), (text) => {
        expect(parseLastReloadedFrom(text)).toBeUndefined();
      }),
    );
  });
});
