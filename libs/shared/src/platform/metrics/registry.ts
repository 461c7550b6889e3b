/**
 * Prometheus metrics. A registry is made and handed around, never the library's global one. Unit in the
 * name, counters end in `_total`, and a label whose values are known is there at zero before the first event,
 * so that rates and alerts work from the start.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Label names, each with its known values; an empty list for one whose values turn up as they come. */
export type Labels<L extends string> = Readonly<Record<L, readonly string[]>>;

export interface MetricSpec<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: Labels<L>;
}

export interface HistogramSpec<L extends string> extends MetricSpec<L> {
  /** Upper bounds, in seconds. */
  readonly buckets: readonly number[];
}

/** A registry with the metrics of the Node.js process in it. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** One that is there already: two roles of a process count in the same metric. */
function existing<M>(registry: Registry, { name }: { name: string }): M | undefined {
  return registry.getSingleMetric(name) as M | undefined;
}

type LabelSet<L extends string> = Partial<Record<L, string>>;

/** Every combination of the known label values; none if the values of one are not known. */
function combinations<L extends string>(labels: Labels<L> | undefined): LabelSet<L>[] {
  const entries = Object.entries(labels ?? {}) as [L, readonly string[]][];
  return entries.reduce<LabelSet<L>[]>(
    (sets, [label, values]) => sets.flatMap((set) => values.map((value) => ({ ...set, [label]: value }))),
    [{}],
  );
}

function configuration<L extends string>(registry: Registry, spec: MetricSpec<L>) {
  const labelNames = Object.keys(spec.labels ?? {}) as L[];
  return { name: spec.name, help: spec.help, labelNames, registers: [registry] };
}

export function counter<L extends string = never>(registry: Registry, spec: MetricSpec<L>): Counter<L> {
  const metric = existing<Counter<L>>(registry, spec) ?? new Counter<L>(configuration(registry, spec));
  for (const set of combinations(spec.labels)) metric.inc(set, 0);
  return metric;
}

export function gauge<L extends string = never>(registry: Registry, spec: MetricSpec<L>): Gauge<L> {
  const present = existing<Gauge<L>>(registry, spec);
  if (present) return present;
  const metric = new Gauge<L>(configuration(registry, spec));
  for (const set of combinations(spec.labels)) metric.set(set, 0);
  return metric;
}

export function histogram<L extends string = never>(
  registry: Registry,
  spec: HistogramSpec<L>,
): Histogram<L> {
  const present = existing<Histogram<L>>(registry, spec);
  if (present) return present;
  const metric = new Histogram<L>({ ...configuration(registry, spec), buckets: [...spec.buckets] });
  for (const set of combinations(spec.labels)) metric.zero(set);
  return metric;
}
