import type { ReloadedBy } from '@reroll/shared/kube/workloads/definition';
import { PatchTemplate, type PatchTemplateContext } from './patch-template.ts';
import type { ReloadWay } from './reload-way.ts';

/** Every way of reloading, by the name that a kind of workload gives it. */
export type ReloadWays = Readonly<Record<ReloadedBy, ReloadWay>>;

export function reloadWays(context: PatchTemplateContext): ReloadWays {
  return { patch: new PatchTemplate(context) };
}
