import { markerType } from '../marker/marker-type.ts';
import type { SourceId, WorkloadId } from '../model.ts';

/** The most workloads listed; receivers limit the length of a message (Slack 40,000, gchat 4,096 characters). */
const MOST_NAMED = 20;

function named({ name, kind }: { name: string; kind: string }): string {
  return `*${name}* of type *${kind}*`;
}

/** Describes the reload: in stakater/Reloader's exact words for one workload, as a list for several. */
function deed(workloads: readonly WorkloadId[], namespace: string): string {
  const shown = workloads.slice(0, MOST_NAMED).map(named).join(', ');
  if (workloads.length === 1) return `Hence reloaded ${shown} in namespace *${namespace}*`;
  const more = workloads.length > MOST_NAMED ? ` and ${workloads.length - MOST_NAMED} more` : '';
  return `Hence reloaded ${workloads.length} workloads in namespace *${namespace}*: ${shown}${more}`;
}

/**
 * Returns the text of an alert, in the markup of chats (`*bold*`). `additionalInfo` (`ALERT_ADDITIONAL_INFO`) comes first unless
 * empty. The source and its workloads share a namespace.
 */
export function alertText(
  source: SourceId,
  workloads: readonly WorkloadId[],
  additionalInfo: string,
): string {
  const { name, kind, namespace } = source;
  const cause = `Reloader detected changes in *${name}* of type *${markerType(kind)}* in namespace *${namespace}*`;
  const text = `${cause}. ${deed(workloads, namespace)}`;
  return additionalInfo === '' ? text : `${additionalInfo} : ${text}`;
}
