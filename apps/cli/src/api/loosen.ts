import { z } from 'zod';

/**
 * Loosens a schema of the API for clients: unknown fields and words of a newer server are accepted. Missing fields and
 * other types are still errors.
 */
export function loosen(schema: z.ZodType): z.ZodType {
  const { def } = schema;
  const loosener = LOOSENERS[def.type];
  return loosener === undefined ? schema : loosener(def as never);
}

type Wrapper = { readonly innerType: z.ZodType };

const LOOSENERS: Readonly<Record<string, (def: never) => z.ZodType>> = {
  object: ({ shape }: { shape: Readonly<Record<string, z.ZodType>> }) =>
    z.looseObject(Object.fromEntries(Object.entries(shape).map(([key, each]) => [key, loosen(each)]))),
  array: ({ element }: { element: z.ZodType }) => z.array(loosen(element)),
  record: ({ valueType }: { valueType: z.ZodType }) => z.record(z.string(), loosen(valueType)),
  union: ({ options }: { options: readonly z.ZodType[] }) => z.union(options.map(loosen)),
  optional: ({ innerType }: Wrapper) => loosen(innerType).optional(),
  nullable: ({ innerType }: Wrapper) => loosen(innerType).nullable(),
  default: ({ innerType, defaultValue }: Wrapper & { defaultValue: unknown }) =>
    loosen(innerType).default(defaultValue),
  enum: () => z.string(),
};
