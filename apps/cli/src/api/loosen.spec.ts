import { EVENTS } from '@reroll/shared/api/events';
import { OPERATIONS, type Operation } from '@reroll/shared/api/operations';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { change, changeSummary, status, workload } from '../testing/answers.ts';
import { loosen } from './loosen.ts';

/** The same value with an unknown field in every object. */
function withMore(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMore);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, each]) => [key, withMore(each)]);
  return { ...Object.fromEntries(fields), ofTomorrow: { x: [1] } };
}

describe('answers of a newer server', () => {
  it.each([
    ['getStatus', status({ limits: { concurrency: 4, reloadsPerMinute: null } })],
    ['getChange', change()],
    ['listChanges', { items: [changeSummary({ states: {} })], next: null }],
    ['getWorkload', workload({ annotations: {}, podAnnotations: {} })],
  ] as const)('%s is read with fields that it has besides, and keeps them', (id, answer) => {
    const schema = OPERATIONS[id].answer;
    expect(schema.safeParse(answer).success).toBe(true);
    const more = withMore(answer);
    // Skips maps, whose values are numbers or texts: the field would be invalid there.
    const strict = schema.safeParse(more);
    expect(strict.success).toBe(false);
    const read = loosen(schema).safeParse(withoutInMaps(more));
    expect(read.error?.issues ?? []).toEqual([]);
    expect(read.data).toMatchObject({ ofTomorrow: { x: [1] } });
  });

  it('a word of an enumeration that is new is no error, and a missing or wrong field is one', () => {
    const schema = loosen(EVENTS.change);
    expect(schema.safeParse({ ...changeSummary(), cause: 'dreamt' }).success).toBe(true);
    expect(schema.safeParse({ ...changeSummary(), states: { dozing: 1 } }).success).toBe(true);
    const { cause: _cause, ...without } = changeSummary();
    expect(schema.safeParse(without).success).toBe(false);
    expect(schema.safeParse({ ...changeSummary(), id: 7 }).success).toBe(false);
  });

  it('every answer of the API can be loosened', () => {
    for (const { answer } of Object.values<Operation>(OPERATIONS)) {
      if (answer !== undefined) expect(() => z.toJSONSchema(loosen(answer), { io: 'output' })).not.toThrow();
    }
  });
});

const MAPS = new Set(['states', 'annotations', 'podAnnotations', 'counts', 'sources']);

function withoutInMaps(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutInMaps(each));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([key]) => key !== 'ofTomorrow' || !MAPS.has(name));
  return Object.fromEntries(fields.map(([key, each]) => [key, withoutInMaps(each, key)]));
}
