import { pass, skip, type RuleAnswer } from './rule.ts';
import type { Facts } from './facts.ts';

/** Maps the values of `--ignored-workload-types` to kinds. */
const KIND_OF_TYPE: ReadonlyMap<string, string> = new Map([
  ['jobs', 'Job'],
  ['cronjobs', 'CronJob'],
]);

/** Skips kinds of workload. One invalid entry disables the list, as in stakater/Reloader, which only notices it here. */
export function ignoredWorkloadKind({ workload, settings }: Facts): RuleAnswer {
  const types = settings.ignoredWorkloadTypes;
  const unknown = types.find((type) => !KIND_OF_TYPE.has(type));
  if (unknown !== undefined) {
    return pass(() => `${JSON.stringify(unknown)} is no workload type, so no kind of workload is ignored`);
  }
  if (types.some((type) => KIND_OF_TYPE.get(type) === workload.kind)) {
    return skip('WorkloadKindIgnored', () => `workloads of kind ${workload.kind} are ignored`);
  }
  return pass(() => `workloads of kind ${workload.kind} are not ignored`);
}
