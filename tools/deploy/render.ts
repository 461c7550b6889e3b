import { parseAllDocuments } from 'yaml';
import { renderByHelm } from './helm-renderer.ts';
import { CHART } from './values/values-comments.ts';

/** An object that the chart renders. What lies below is looked at with `at`. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Values, nested as in values.yaml. */
export type ChartValues = Readonly<Record<string, unknown>>;

export interface RenderOptions {
  readonly chart?: string;
  /** Default `reroll`. */
  readonly release?: string;
  /** Default `reroll`. */
  readonly namespace?: string;
  /** An API that the cluster has besides its own, such as `security.openshift.io/v1`. */
  readonly api?: string;
  /** Another number renders anew what has been rendered already. Default 0. */
  readonly again?: number;
}

/** Either the objects, or what helm said when it refused. */
export type Rendered =
  | {
      readonly ok: true;
      readonly text: string;
      readonly notes: string;
      readonly manifests: readonly Manifest[];
    }
  | { readonly ok: false; readonly error: string };

const rendered = new Map<string, Promise<Rendered>>();

/** What `helm template` makes of these values; the same again is not rendered again. */
export function renderChart(values: ChartValues = {}, options: RenderOptions = {}): Promise<Rendered> {
  const key = JSON.stringify([values, options]);
  const known = rendered.get(key) ?? render(values, options);
  rendered.set(key, known);
  return known;
}

async function render(values: ChartValues, options: RenderOptions): Promise<Rendered> {
  const { chart = CHART, release = 'reroll', namespace = 'reroll', api } = options;
  const apis = api === undefined ? [] : [api];
  const { text, notes, error } = await renderByHelm({ chart, release, namespace, values, apis });
  return error === undefined ? { ok: true, text, notes, manifests: manifestsOf(text) } : { ok: false, error };
}

/** The objects of a YAML stream. */
export function manifestsOf(text: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(`expected YAML: ${document.errors[0]?.message}`);
    const object = document.toJS() as Manifest | null;
    return object === null ? [] : [object];
  });
}

/** The objects, of values that must render. */
export async function manifestsWith(
  values: ChartValues = {},
  options: RenderOptions = {},
): Promise<readonly Manifest[]> {
  const result = await renderChart(values, options);
  if (!result.ok) throw new Error(result.error);
  return result.manifests;
}

/** What helm says of values that it refuses. */
export async function refusalOf(values: ChartValues, options: RenderOptions = {}): Promise<string> {
  const result = await renderChart(values, options);
  return result.ok ? 'nothing: it was rendered' : result.error;
}

/** Values of a release that has no Redis of its own, but yours. */
export function externalRedis(external: ChartValues): ChartValues {
  return { redis: { enabled: false, external } };
}
