import { EVENTS } from '@reroll/shared/api/events';
import { OPERATIONS, type Operation } from '@reroll/shared/api/operations';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { changeSummary } from '../testing/answers.ts';
import { loosen } from './loosen.ts';

interface Definition {
  readonly shape: Readonly<Record<string, z.ZodType>>;
  readonly element: z.ZodType;
  readonly valueType: z.ZodType;
  readonly innerType: z.ZodType;
  readonly options: readonly z.ZodType[];
  readonly values: readonly unknown[];
}

/** Values of a newer server, by the types of schemas: each object has another field, and no word of an enumeration is known. */
const NEWER: Readonly<Record<string, (def: Definition, schema: z.ZodType) => unknown>> = {
  object: ({ shape }) => ({
    ...Object.fromEntries(Object.entries(shape).map(([key, each]) => [key, newer(each)])),
    ofTomorrow: { x: [1] },
  }),
  array: ({ element }) => [newer(element)],
  record: ({ valueType }) => ({ ofTomorrow: newer(valueType) }),
  union: ({ options: [first] }) => first && newer(first),
  optional: ({ innerType }) => newer(innerType),
  nullable: ({ innerType }) => newer(innerType),
  default: ({ innerType }) => newer(innerType),
  enum: () => 'OfTomorrow',
  literal: ({ values: [first] }) => first,
  number: () => 1,
  boolean: () => true,
  string: (_, schema) => schema.meta()?.['example'] ?? 'web',
};

function newer(schema: z.ZodType): unknown {
  const make = NEWER[schema.def.type];
  if (make === undefined) throw new Error(`expected a type that loosen knows, given ${schema.def.type}`);
  return make(schema.def as unknown as Definition, schema);
}

const ANSWERS = Object.entries<Operation>(OPERATIONS).flatMap(([id, { answer }]) =>
  answer === undefined ? [] : [[id, answer] as const],
);

describe('answers of a newer server', () => {
  it.each([...ANSWERS, ...Object.entries(EVENTS)])(
    '%s is read with fields and words that are new, and keeps them',
    (_id, schema: z.ZodType) => {
      const answer = newer(schema);
      expect(schema.safeParse(answer).success).toBe(false);
      const read = loosen(schema).safeParse(answer);
      expect(read.error?.issues ?? []).toEqual([]);
      expect(read.data).toEqual(answer);
    },
  );

  it('a word of an enumeration that is new is no error, and a missing or wrong field is one', () => {
    const schema = loosen(EVENTS.change);
    expect(schema.safeParse({ ...changeSummary(), cause: 'dreamt' }).success).toBe(true);
    expect(schema.safeParse({ ...changeSummary(), states: { dozing: 1 } }).success).toBe(true);
    const { cause: _cause, ...without } = changeSummary();
    expect(schema.safeParse(without).success).toBe(false);
    expect(schema.safeParse({ ...changeSummary(), id: 7 }).success).toBe(false);
  });
});
