import type { Cluster } from '../../cluster/src/cluster.ts';
import type { Api } from './api.ts';
import type { BenchOptions } from './options.ts';
import type { NamedProcess } from './measure/proc.ts';
import type { WorkSet } from './work-set.ts';

/** One cluster in which scenarios are measured, and what the bench knows of it. */
export interface Bench {
  readonly options: BenchOptions;
  readonly cluster: Cluster;
  /** For files of the bench; removed in the end. */
  readonly dir: string;
  readonly api: Api;
  /** Of every workload, as last written, by `<namespace>/<name>`. */
  readonly generations: Map<string, number>;
  /** Of every workload, as last seen. */
  readonly markers: Map<string, string>;
  /** By the word that their scenarios share. */
  readonly workSets: Map<string, WorkSet>;
  /** One workload, by which it is found out whether a reloader reacts. */
  readonly canary: WorkSet;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The servers of the cluster and the bench itself, for metering. */
export function surroundings({ cluster }: Bench): NamedProcess[] {
  const servers = Object.entries(cluster.pids).map(([name, pid]) => ({ name, pid }));
  return [...servers, { name: 'this bench', pid: process.pid }];
}
