import { explanationAnswer } from '@reroll/shared/api/explained';
import type { Explanation } from '@reroll/shared/api/explain';
import { explain } from '@reroll/core/explain/explain';
import { sourcesOf } from '@reroll/core/explain/preview-workload';
import { parseLastReloadedFrom } from '@reroll/core/marker/last-reloaded-from';
import type { WorkloadRef } from '../args/object-ref.ts';
import { age } from '../output/age.ts';
import { paintFor } from '../output/color.ts';
import { printDocument, type Output } from '../output/print.ts';
import { safeText } from '../output/safe-text.ts';
import { toned } from '../output/table.ts';
import { tree, type Branch } from '../output/tree.ts';
import type { Session } from '../session.ts';
import { shortName } from '../views/names.ts';
import { hashText } from '../views/why.ts';
import { existing, gatherer } from './explain.ts';
import { annotationsOfCluster } from './preview.ts';
import { namespaceHolds } from './namespace-holds.ts';
import { settingsFor, unwatchedOf } from './scope.ts';

/** What the cluster itself shows of a workload's restarts. */
interface ClusterWhy {
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
  const found = await settingsFor(session, flags, workload);
  const gather = gatherer(session, found);
  const read = await existing(gather, workload);
  const { keys } = found.settings.decision;
  const { podAnnotations } = await annotationsOfCluster(session, workload);
  const sources = await Promise.all(sourcesOf(read, keys).map((key) => gather.source(key)));
  const namespaces = await namespaceHolds(session, found, workload.namespace);
  const unwatched = unwatchedOf(found, sources);
  return {
    workload,
    lastReloadedFrom: markerOf(podAnnotations[keys.lastReloadedFrom]),
    sources: sources.map((source) => {
      const explained = explain({
        workload: read,
        source,
        unwatched,
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

export function printOfCluster({ io }: Session, output: Output | undefined, why: ClusterWhy): void {
  if (printDocument(io, output, why)) return;
  const { workload, lastReloadedFrom: last, sources, settings } = why;
  const name = shortName(workload);
  const sentence =
    last === null
      ? `The pod template of ${name} does not tell why it was reloaded; only the admin has the history.`
      : `Reroll reloaded ${name} ${age(last.at, io.now())} ago, because of ${last.source}.`;
  io.out(`${safeText(sentence)}\n`);
  const branches = [
    { name: 'Settings', cell: settings },
    sources.length === 0
      ? { name: 'Sources', cell: 'none' }
      : { name: 'Sources', below: sources.map((each) => sourceBranch(each, output === 'wide')) },
  ];
  io.out(tree(branches, paintFor(io, io.outIsTerminal)));
}

function sourceBranch({ source, reloads, reason, conclusion, record }: Explanation, wide: boolean): Branch {
  // The current hash needs the key of the installation.
  const recorded = wide ? ` (recorded ${hashText(record.recorded)})` : '';
  const cell = `${reason}: ${conclusion}${recorded}`;
  return { name: shortName(source), cell: toned(cell, reloads ? undefined : 'quiet') };
}
