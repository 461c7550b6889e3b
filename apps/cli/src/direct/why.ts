import { explanationAnswer } from '@reroll/shared/api/explained';
import type { Explanation } from '@reroll/shared/api/explain';
import { explain } from '@reroll/core/explain/explain';
import { sourcesOf } from '@reroll/core/explain/preview-workload';
import { parseLastReloadedFrom } from '@reroll/core/marker/last-reloaded-from';
import type { WorkloadRef } from '../args/object-ref.ts';
import { age } from '../output/age.ts';
import { paintFor } from '../output/color.ts';
import { printDocument, type Output } from '../output/print.ts';
import { facts, table, type Column } from '../output/table.ts';
import type { Session } from '../session.ts';
import { shortHash, shortName } from '../views/names.ts';
import { yesNo } from '../views/workloads.ts';
import { existing, gatherer } from './explain.ts';
import { annotationsOfCluster } from './preview.ts';
import { namespaceHolds } from './namespace-holds.ts';
import { findSettings } from './settings.ts';

/** What the cluster itself shows of a workload's restarts. */
export interface ClusterWhy {
  readonly workload: WorkloadRef;
  /** The pod template's source of the last reload, if the strategy writes it. */
  readonly lastReloadedFrom: { readonly source: string; readonly at: string } | null;
  readonly sources: readonly Explanation[];
  readonly settings: string;
}

export async function whyOfCluster(
  session: Session,
  workload: WorkloadRef,
  flags: readonly string[],
): Promise<ClusterWhy> {
  const found = await findSettings(session, flags);
  const gather = gatherer(session, found);
  const read = await existing(gather, workload);
  const { keys } = found.settings.decision;
  const { podAnnotations } = await annotationsOfCluster(session, workload);
  const sources = await Promise.all(sourcesOf(read, keys).map((key) => gather.source(key)));
  const namespaces = await namespaceHolds(session, found, workload.namespace);
  return {
    workload,
    lastReloadedFrom: markerOf(podAnnotations[keys.lastReloadedFrom]),
    sources: sources.map((source) => {
      const explained = explain({
        workload: read,
        source,
        settings: found.settings,
        from: 'cluster',
        now: session.io.now(),
        namespaces,
      });
      return explanationAnswer(explained, 'cluster', (hash) => hash);
    }),
    settings: found.from,
  };
}

function markerOf(value: string | undefined): ClusterWhy['lastReloadedFrom'] {
  const marker = value === undefined ? undefined : parseLastReloadedFrom(value);
  if (marker === undefined) return null;
  return { source: shortName(marker), at: new Date(marker.observedAt * 1_000).toISOString() };
}

const COLUMNS: readonly Column<Explanation>[] = [
  { title: 'SOURCE', cell: ({ source }) => shortName(source) },
  { title: 'ROLLS', cell: ({ reloads }) => yesNo(reloads) },
  { title: 'REASON', cell: ({ reason }) => reason },
  { title: 'RECORDED', cell: ({ record }) => shortHash(record.recorded) },
  { title: 'WHY', cell: ({ conclusion }) => conclusion },
];

export function printOfCluster({ io }: Session, output: Output | undefined, why: ClusterWhy): void {
  if (printDocument(io, output, why)) return;
  const { workload, lastReloadedFrom, sources, settings } = why;
  const paint = paintFor(io, io.outIsTerminal);
  const last =
    lastReloadedFrom === null
      ? 'the pod template does not tell; the history is with the admin'
      : `for ${lastReloadedFrom.source}, ${age(lastReloadedFrom.at, io.now())} ago`;
  io.out(
    facts(
      [
        ['Workload', `${shortName(workload)} in the namespace ${workload.namespace}`],
        ['Last reload', last],
        ['Settings', settings],
      ],
      paint,
    ),
  );
  if (sources.length === 0) return io.out('\nIt has to do with no source.\n');
  io.out(`\n${table(COLUMNS, sources, { paint })}`);
}
