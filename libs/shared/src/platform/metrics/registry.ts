/**
 * Prometheus metrics. Each process passes on its own registry and never uses the library's global one. Names end in their
 * unit, and counters in `_total`. A metric whose label values are known starts at zero for each, so that rates and alerts
 * work from the start.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Label names, each with its known values; an empty list if the values are not known in advance. */
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

/** A registry with the metrics of the Node.js process. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** The metric if it exists: two roles of a process count in the same one. */
function existing<M>(registry: Registry, { name }: { name: string }): M | undefined {
  return registry.getSingleMetric(name) as M | undefined;
}

type LabelSet<L extends string> = Partial<Record<L, string>>;

/** Every combination of the known label values; none if one label's values are unknown. */
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
