import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../render.ts';
import { problemsOf, type Definitions, type Schema } from './schema-problems.ts';

interface Swagger {
  readonly definitions: Readonly<
    Record<string, Schema & { 'x-kubernetes-group-version-kind'?: readonly Gvk[] }>
  >;
}
interface Gvk {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}
interface Crd {
  readonly kind: string;
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

/** Schemas by kind, of one version of Kubernetes and some CustomResourceDefinitions. */
export class SchemaSet {
  readonly #definitions: Definitions;
  /** By `apiVersion kind`. */
  readonly #kinds = new Map<string, Schema>();

  /** Of a swagger.json and YAML files of CRDs. */
  constructor(swagger: string, crds: readonly string[]) {
    const { definitions } = JSON.parse(readFileSync(swagger, 'utf8')) as Swagger;
    this.#definitions = definitions;
    for (const schema of Object.values(definitions))
      for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? [])
        this.#kinds.set(`${group === '' ? '' : `${group}/`}${version} ${kind}`, schema);
    for (const file of crds) this.#addCrds(file);
  }

  /** What is wrong with an object; a kind that is not known is wrong too. */
  problemsOf(object: Manifest): readonly string[] {
    const { apiVersion, kind, metadata } = object;
    const schema = this.#kinds.get(`${apiVersion} ${kind}`);
    const title = `${kind} ${metadata.name}`;
    if (schema === undefined) return [`${title}: ${apiVersion} is not known`];
    return problemsOf(object, schema, this.#definitions).map((problem) => `${title}${problem}`);
  }

  #addCrds(file: string): void {
    for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
      const crd = document.toJS() as Crd | null;
      if (crd?.kind !== 'CustomResourceDefinition') continue;
      for (const { name, schema } of crd.spec.versions)
        this.#kinds.set(
          `${crd.spec.group}/${name} ${crd.spec.names.kind}`,
          withMetadata(schema.openAPIV3Schema),
        );
    }
  }
}

/** A CRD says of metadata only that it is an object: here it is that of every other kind. */
function withMetadata(schema: Schema): Schema {
  const metadata = { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };
  return { ...schema, properties: { ...schema.properties, metadata } };
}
