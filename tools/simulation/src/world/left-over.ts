/**
 * What the catalog may still know of what is gone, some resyncs later: docs/scaling.md and docs/adr/0031. Of deleted sources those rows stay
 * that a workload uses, mentions, names or has recorded.
 */
import type { SimulatedRedis } from '../redis/server.ts';
import type { KubeObject } from './shapes.ts';

interface World {
  readonly sources: ReadonlyMap<string, KubeObject>;
  readonly workloads: ReadonlyMap<string, { readonly shown: { readonly object: KubeObject } }>;
}

/** Rows that nobody needs. */
export function leftOver(redis: SimulatedRedis, { sources, workloads }: World): string[] {
  const isNeeded = (source: string): boolean => {
    const [, namespace, name = ''] = source.split('/');
    // As a value, in a list or in the record; not as the name of a field.
    const mention = new RegExp(`["/,]${name}["\\\\,](?!:)`);
    return [...workloads.values()].some(
      ({ shown: { object } }) =>
        object.metadata.namespace === namespace && mention.test(JSON.stringify(object)),
    );
  };
  const gone = [
    ...rowsOf(redis, 'sources').filter((key) => !sources.has(key) && !isNeeded(key)),
    ...rowsOf(redis, 'workloads').filter((key) => !workloads.has(key)),
  ];
  return gone.map((key) => `the catalog has ${key}, which was deleted and which nobody needs`);
}

function rowsOf(redis: SimulatedRedis, table: string): string[] {
  const found = [...redis.each()].find(([key]) => key.endsWith(`:v1:${table}`));
  return found ? [...found[1].texts()].filter((_, at) => at % 2 === 0) : [];
}
