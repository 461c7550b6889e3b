import type { ReloadedBy } from '@reroll/kube/workloads/definition';
import { PatchTemplate, type PatchTemplateContext } from './patch-template.ts';
import { RecreateJob, type RecreateJobContext } from './recreate-job.ts';
import type { ReloadWay } from './reload-way.ts';
import { RunCronJob, type RunCronJobContext } from './run-cron-job.ts';

/** Every way of reloading, by the name that kinds of workloads refer to. */
export type ReloadWays = Readonly<Record<ReloadedBy, ReloadWay>>;

export type ReloadWaysContext = PatchTemplateContext &
  RunCronJobContext &
  Omit<RecreateJobContext, 'patch'> & { readonly cronJobStrategy: 'run' | 'patch' };

export function reloadWays(context: ReloadWaysContext): ReloadWays {
  const patch = new PatchTemplate(context);
  const cronJobRun = context.cronJobStrategy === 'patch' ? patch : new RunCronJob(context);
  return { patch, cronJobRun, recreation: new RecreateJob({ ...context, patch }) };
}
