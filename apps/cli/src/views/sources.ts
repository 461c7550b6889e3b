import type { Source, SourceSummary } from '@reroll/shared/api/workloads';
import { age } from '../output/age.ts';
import type { ListView } from '../output/print.ts';
import type { Cell, Column } from '../output/table.ts';
import type { ViewOptions } from './changes.ts';
import { fullName, shortHash, shortName } from './names.ts';
import { annotationFacts } from './workloads.ts';

export function sourcesView({ now, namespaces }: ViewOptions): ListView<SourceSummary> {
  const namespace: Column<SourceSummary> = { title: 'NAMESPACE', cell: (each) => each.namespace };
  return {
    nameOf: fullName,
    columns: [
      ...(namespaces ? [namespace] : []),
      { title: 'NAME', cell: shortName },
      { title: 'EXISTS', cell: ({ exists }) => (exists ? 'yes' : 'no') },
      { title: 'WORKLOADS', cell: ({ workloads }) => String(workloads) },
      { title: 'CHANGED', cell: ({ changedAt }) => (changedAt === null ? '' : age(changedAt, now)) },
      { title: 'HASH', wide: true, cell: ({ hash }) => shortHash(hash) },
    ],
  };
}

export function sourceFacts(source: Source, now: number): (readonly [string, Cell])[] {
  return [
    ['Source', `${shortName(source)} in the namespace ${source.namespace}`],
    ['Exists', source.exists ? 'yes' : 'no'],
    ['Changed', source.changedAt === null ? '' : `${source.changedAt} (${age(source.changedAt, now)} ago)`],
    ['Hash', shortHash(source.hash)],
    ...annotationFacts('Annotation', source.annotations),
  ];
}
