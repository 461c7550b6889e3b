/** What is created: so many workloads over so many namespaces, `sharing` of them to a source. */
export interface WorkShape {
  /** Of the namespaces' names. */
  readonly prefix: string;
  readonly workloads: number;
  readonly namespaces: number;
  readonly sharing: number;
}

export interface ObjectId {
  readonly namespace: string;
  readonly name: string;
}

/** A ConfigMap and the workloads of its namespace that use it. */
export interface Source extends ObjectId {
  readonly workloads: readonly ObjectId[];
}

/** `<namespace>/<name>`. */
export function idText({ namespace, name }: ObjectId): string {
  return `${namespace}/${name}`;
}

export function namespaceNames({ prefix, namespaces }: WorkShape): string[] {
  return Array.from({ length: namespaces }, (_, index) => `bench-${prefix}-${index}`);
}

/** The sources in an order in which any first M of them are spread evenly over the namespaces. */
export function layOut(shape: WorkShape): Source[] {
  const perNamespace = namespaceNames(shape).map((namespace, index) => {
    const extra = index < shape.workloads % shape.namespaces ? 1 : 0;
    const workloads = Math.floor(shape.workloads / shape.namespaces) + extra;
    return sourcesOf(namespace, { workloads, sharing: shape.sharing });
  });
  const longest = Math.max(...perNamespace.map((sources) => sources.length));
  return Array.from({ length: longest }, (_, index) => index).flatMap((index) =>
    perNamespace.map((sources) => sources[index]).filter((source) => source !== undefined),
  );
}

function sourcesOf(namespace: string, counts: { workloads: number; sharing: number }): Source[] {
  const { workloads, sharing } = counts;
  return Array.from({ length: Math.ceil(workloads / sharing) }, (_, source) => {
    const first = source * sharing;
    const length = Math.min(sharing, workloads - first);
    const users = Array.from({ length }, (_, index) => ({ namespace, name: `app-${first + index}` }));
    return { namespace, name: `cfg-${source}`, workloads: users };
  });
}
