/** As far as it is looked at here. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

interface OpenApiOperation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
}

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly schema: object;
}

/** What is really there, to be asked for. */
export interface Examples {
  /** By name of a schema of the document. */
  readonly schemas: Readonly<Record<string, unknown>>;
  /** By operation and parameter, `getChange.id`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Every value that is accepted of a parameter whose schema allows more, by operation and parameter. */
  readonly only: Readonly<Record<string, readonly unknown[]>>;
}

/**
 * The document with other examples: a schema cannot tell what there is, and what is not there is only ever 404.
 * @throws when the document has no such schema or parameter.
 */
export function withExamples(document: OpenApiDocument, examples: Examples): OpenApiDocument {
  const { schemas: shared } = document.components;
  for (const [name, example] of Object.entries(examples.schemas)) {
    const schema = shared[name];
    if (!schema) throw new Error(`expected a schema ${name} in the OpenAPI document`);
    Object.assign(schema, { example });
  }
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const parameters = operations.flatMap(({ operationId, parameters: each = [] }) =>
    each.map((parameter) => ({ id: `${operationId}.${parameter.name}`, parameter })),
  );
  const change = (id: string, by: object): void => {
    const found = parameters.find((each) => each.id === id);
    if (!found) throw new Error(`expected a parameter ${id} in the OpenAPI document`);
    Object.assign(found.parameter.schema, by);
  };
  for (const [id, example] of Object.entries(examples.parameters)) change(id, { example });
  for (const [id, values] of Object.entries(examples.only)) change(id, { enum: values });
  return document;
}
