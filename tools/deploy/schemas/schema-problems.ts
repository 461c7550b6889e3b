/** A schema of Kubernetes' swagger or of a CustomResourceDefinition, as far as both use JSON Schema. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

export type Definitions = Readonly<Record<string, Schema>>;

/** Where and why a value does not fit; unknown fields are problems, as with strict field validation. */
export function problemsOf(value: unknown, schema: Schema, definitions: Definitions): readonly string[] {
  return problems({ value, schema, path: '' }, definitions);
}

interface Place {
  readonly value: unknown;
  readonly schema: Schema;
  readonly path: string;
}

const QUANTITY = '#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity';

function problems(place: Place, definitions: Definitions): readonly string[] {
  const { schema, path } = place;
  if (schema.$ref !== undefined) return refProblems(place, definitions);
  const isAny = schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string';
  if (isAny) return typeProblems(place, ['string', 'integer']);
  switch (schema.type) {
    case 'object':
      return objectProblems(place, definitions);
    case 'array':
      return arrayProblems(place, definitions);
    case undefined:
      return [];
    default:
      return [...typeProblems(place, [schema.type]), ...boundProblems(place).map((why) => `${path}: ${why}`)];
  }
}

function refProblems({ value, schema, path }: Place, definitions: Definitions): readonly string[] {
  if (schema.$ref === QUANTITY) return typeProblems({ value, schema, path }, ['string', 'integer', 'number']);
  const target = definitions[schema.$ref?.replace('#/definitions/', '') ?? ''];
  return target === undefined
    ? [`${path}: ${schema.$ref} is not defined`]
    : problems({ value, schema: target, path }, definitions);
}

function objectProblems({ value, schema, path }: Place, definitions: Definitions): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${path}: expected an object`];
  const { properties, additionalProperties, required = [] } = schema;
  const missing = required.filter((key) => !(key in value)).map((key) => `${path}.${key}: is missing`);
  const inner = Object.entries(value).flatMap(([key, each]) => {
    const known =
      properties?.[key] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
    if (known) return problems({ value: each, schema: known, path: `${path}.${key}` }, definitions);
    const isOpen = properties === undefined || schema['x-kubernetes-preserve-unknown-fields'] === true;
    return isOpen || additionalProperties === true ? [] : [`${path}.${key}: is no field`];
  });
  return [...missing, ...inner];
}

function arrayProblems({ value, schema, path }: Place, definitions: Definitions): readonly string[] {
  if (!Array.isArray(value)) return [`${path}: expected a list`];
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const size =
    value.length < minItems || value.length > maxItems ? [`${path}: has ${value.length} items`] : [];
  if (items === undefined) return size;
  return [
    ...size,
    ...value.flatMap((each, index) =>
      problems({ value: each, schema: items, path: `${path}.${index}` }, definitions),
    ),
  ];
}

function typeProblems({ value, path }: Place, types: readonly string[]): readonly string[] {
  const type = Number.isInteger(value) ? 'integer' : typeof value;
  const isNumber = type === 'integer' && types.includes('number');
  return types.includes(type) || isNumber ? [] : [`${path}: expected ${types.join(' or ')}, given ${type}`];
}

function boundProblems({ value, schema }: Place): readonly string[] {
  const found = [...textProblems(value, schema), ...numberProblems(value, schema)];
  return schema.enum === undefined || schema.enum.includes(value)
    ? found
    : [...found, `is none of ${schema.enum.join(', ')}`];
}

function textProblems(value: unknown, { minLength = 0, pattern }: Schema): readonly string[] {
  if (typeof value !== 'string') return [];
  if (value.length < minLength) return ['is too short'];
  return pattern === undefined || new RegExp(pattern).test(value) ? [] : [`is not ${pattern}`];
}

function numberProblems(value: unknown, { minimum, maximum }: Schema): readonly string[] {
  if (typeof value !== 'number') return [];
  return value < (minimum ?? value) || value > (maximum ?? value) ? ['is out of range'] : [];
}
