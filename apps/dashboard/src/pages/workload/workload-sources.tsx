import type { JSX } from 'preact';
import type { Workload } from '@reroll/shared/api/workloads';
import { Panel } from '../../components/panel.tsx';
import { Picture } from '../../components/pictures/picture.tsx';
import { DependencyTable, type DependencyRow } from '../../components/tables/dependency-table.tsx';
import { spoken } from '../../names.ts';
import { counted } from '../../words.ts';
import { sourceStates } from './source-states.ts';

/** What a workload uses, and in which state each source is. */
export function WorkloadSources({ workload }: { workload: Workload }): JSX.Element {
  const states = sourceStates(workload);
  const rows: DependencyRow[] = workload.sourcesInDetail.map((dependency, index) => {
    const state = states[index] ?? 'none';
    const note = state === 'held' ? (workload.hold?.detail ?? '') : '';
    return { ...dependency, other: dependency.source, workload, state, note };
  });
  const rolling = rows.filter(({ rolls }) => rolls).length;
  return (
    <Panel title="Sources">
      {rows.length === 0 ? null : (
        <Picture
          hub={workload}
          spokes={rows.map(({ source, rolls, state }) => ({ ref: source, rolls, state }))}
          sentence={`${rolling} of ${counted(rows.length, 'source')} ${rolling === 1 ? 'reloads' : 'reload'} ${spoken(workload)} when its data changes. A dashed line: no reload.`}
        />
      )}
      <DependencyTable
        caption="Sources of this workload"
        dependencies={rows}
        other="Source"
        empty="It refers to no ConfigMap, Secret or SecretProviderClass."
      />
    </Panel>
  );
}
