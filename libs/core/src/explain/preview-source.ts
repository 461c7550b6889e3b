import type { Annotations } from '../model.ts';
import type { ExplainedSource, ExplainedWorkload, ExplainInput } from './facts.ts';
import { preview, type Preview, type PreviewPlan } from './preview.ts';
import { sourceWithProposed, unreadKeys } from './proposed.ts';

export interface SourcePreviewInput extends Pick<ExplainInput, 'settings' | 'from' | 'now'> {
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
  if (annotations === undefined) {
    return { pairs: workloads.map((workload) => ({ today: { ...rest, source, workload } })), remarks: [] };
  }
  const { keys } = rest.settings.decision;
  const then = sourceWithProposed(source, annotations, keys);
  const pairs = workloads.map((workload) => ({
    today: { ...rest, source, workload },
    proposed: { ...rest, source: then, workload },
  }));
  const unread = unreadKeys(annotations, [keys.ignore, keys.match]);
  const absent = source.row ? [] : ['The source does not exist, so the annotations were not previewed.'];
  return { pairs, remarks: [...absent, ...unread] };
}
