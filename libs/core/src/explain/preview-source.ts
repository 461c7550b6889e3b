import { SOURCE_WAVE_ANNOTATIONS } from '../holds/hold.ts';
import { wavesFor, type WaveSettings } from '../holds/waves.ts';
import type { Annotations } from '../model.ts';
import type { ExplainedSource, ExplainedWorkload, ExplainInput } from './facts.ts';
import { unreadNamespaces } from './holds.ts';
import { preview, type Preview, type PreviewPlan } from './preview.ts';
import { sourceWithProposed, unreadKeys } from './proposed.ts';

export interface SourcePreviewInput extends Pick<
  ExplainInput,
  'settings' | 'from' | 'now' | 'namespaces' | 'unwatched'
> {
  readonly source: ExplainedSource;
  /** Workloads in the source's namespace: at least those that the source concerns. */
  readonly workloads: readonly ExplainedWorkload[];
  /** The annotations that the source would have instead of its own. */
  readonly annotations?: Annotations | undefined;
}

/** Previews which workloads a change of the source's data would reload, now or with other annotations. */
export function previewSource(input: SourcePreviewInput): Preview {
  return preview(planOfSource(input));
}

export function planOfSource({ source, workloads, annotations, ...rest }: SourcePreviewInput): PreviewPlan {
  const { keys } = rest.settings.decision;
  const then = annotations === undefined ? source : sourceWithProposed(source, annotations, keys);
  const pairs = workloads.map((workload) => {
    const today = { ...rest, source, workload };
    return annotations === undefined ? { today } : { today, proposed: { ...today, source: then } };
  });
  const unread = unreadKeys(annotations ?? {}, [keys.ignore, keys.match, ...SOURCE_WAVE_ANNOTATIONS]);
  const isAbsent = annotations !== undefined && !source.row;
  const absent = isAbsent ? ['The source does not exist, so the annotations were not previewed.'] : [];
  const waves = wavesOf(then, rest);
  const areWavesProposed = JSON.stringify(waves) !== JSON.stringify(wavesOf(source, rest));
  return { pairs, waves, areWavesProposed, remarks: [...absent, ...unread, ...unreadNamespaces(rest)] };
}

function wavesOf(
  { row }: ExplainedSource,
  { settings, namespaces }: Pick<ExplainInput, 'settings' | 'namespaces'>,
): WaveSettings | undefined {
  return wavesFor(row?.annotations ?? {}, namespaces?.namespace ?? {}, settings.holds ?? {});
}
