import type { JSX } from 'preact';
import type { ChangeWorkload } from '@reroll/shared/api/changes';
import type { Waves } from '@reroll/shared/api/waves';
import type { Source } from '@reroll/shared/api/workloads';
import { Trouble } from '../../components/answer.tsx';
import { Panel } from '../../components/panel.tsx';
import { Picture } from '../../components/pictures/picture.tsx';
import { DependencyTable, type DependencyRow } from '../../components/tables/dependency-table.tsx';
import { DEPENDENCY_STATES, dependencyState } from '../../dependency-state.ts';
import { keyOf, spoken } from '../../names.ts';
import { wavePlaces, type WavePlace } from '../../wave-places.ts';
import { counted, type ReloadState } from '../../words.ts';
import { useProgress, type WorkloadsProgress } from './use-progress.ts';

/** The workloads of a source, and in which state each is. */
export function DependentsPanel(props: { source: Source; waves: Waves | null | undefined }): JSX.Element {
  const { source, waves } = props;
  const progress = useProgress(source);
  const rows = rowsOf(source, { progress: progress.data, places: wavePlaces(waves, source.hash) });
  const rolling = rows.filter(({ rolls }) => rolls).length;
  return (
    <Panel title="Dependent workloads">
      {progress.error ? (
        <Trouble
          error={progress.error}
          what="the rollouts of these workloads"
          again={progress.refresh}
          knownAt={progress.knownAt}
        />
      ) : null}
      {rows.length === 0 ? null : (
        <Picture
          hub={source}
          spokes={rows.map(({ workload, rolls, state }) => ({ ref: workload, rolls, state }))}
          sentence={`A change of ${spoken(source)} reloads ${rolling} of ${counted(rows.length, 'workload')} that ${rows.length === 1 ? 'refers' : 'refer'} to it. A dashed line: no reload.`}
        />
      )}
      <DependencyTable
        caption="Workloads that refer to this source"
        dependencies={rows}
        other="Workload"
        empty="No workload that you may see refers to it."
      />
    </Panel>
  );
}

interface Known {
  readonly progress: WorkloadsProgress | undefined;
  readonly places: ReadonlyMap<string, WavePlace>;
}

/** The worst first. Until the progress is known, by what the source tells of them. */
function rowsOf(source: Source, { progress, places }: Known): DependencyRow[] {
  const rows = source.workloadsInDetail.map((dependency) => {
    const key = keyOf(dependency.workload);
    const latest = latestOf(progress?.latest.get(key), places.get(key));
    const rollout = progress?.rollouts.get(key) ?? 'complete';
    const state = dependencyState(dependency, { rollout, latest: latest?.state });
    const note = latest && state === latest.state ? latest.note : '';
    return { ...dependency, other: dependency.workload, source, state, note };
  });
  const rank = ({ state }: DependencyRow): number => DEPENDENCY_STATES.indexOf(state);
  return rows.toSorted((one, other) => rank(one) - rank(other));
}

/** What became of the latest reload, and why. A change lists only its first workloads; of the others, their wave tells whether they wait. */
function latestOf(
  of: ChangeWorkload | undefined,
  wave: WavePlace | undefined,
): { state: ReloadState | 'conflict'; note: string } | undefined {
  if (of?.outcome === 'Contested') return { state: 'conflict', note: '' };
  const isTold = of && !['pending', 'delayed', 'forgotten'].includes(of.state);
  if (isTold || wave?.state !== 'waiting') {
    return of && { state: of.state, note: (of.state === 'held' ? of.detail : of.error) ?? '' };
  }
  return { state: 'held', note: `waits for an earlier wave: it is in wave ${wave.number} of ${wave.of}` };
}
