import { markerType } from '../marker/marker-type.ts';
import type { SourceId, WorkloadId } from '../model.ts';

/** A longer list of workloads is cut: receivers limit a message's length (Slack 40,000, gchat 4,096 characters). */
const MOST_NAMED = 20;

function named({ name, kind }: { name: string; kind: string }): string {
  return `*${name}* of type *${kind}*`;
}

/** What was done: for one workload the incumbent's words exactly, for several a list. */
function deed(workloads: readonly WorkloadId[], namespace: string): string {
  const shown = workloads.slice(0, MOST_NAMED).map(named).join(', ');
  if (workloads.length === 1) return `Hence reloaded ${shown} in namespace *${namespace}*`;
  const more = workloads.length > MOST_NAMED ? ` and ${workloads.length - MOST_NAMED} more` : '';
  return `Hence reloaded ${workloads.length} workloads in namespace *${namespace}*: ${shown}${more}`;
}

/**
 * The text of an alert, in the markup of chats (`*bold*`). `additionalInfo` (`ALERT_ADDITIONAL_INFO`) comes
 * first, unless it is empty. The source and its workloads share a namespace.
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
