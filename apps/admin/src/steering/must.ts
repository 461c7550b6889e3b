import { namespaceOf, type Key, type WorkloadKey } from '@reroll/core/model';
import type { Caller } from '../auth/caller.ts';
import { ProblemError } from '../http/problem-error.ts';

/** Rejects with a `ProblemError` unless the caller may do what concerns all users. */
export async function mustSteer(caller: Caller): Promise<void> {
  if (await caller.maySteer()) return;
  throw new ProblemError('Forbidden', {
    detail: 'this concerns every workload: expected the right to patch Deployments in all namespaces',
  });
}

/** Rejects unless the caller may change the workload. A workload that they may not see does not exist. */
export async function mustChange(caller: Caller, workload: WorkloadKey): Promise<void> {
  await mustSee(caller, namespaceOf(workload));
  if (await caller.mayChange(workload)) return;
  throw new ProblemError('Forbidden', { detail: `expected the right to patch ${workload}` });
}

/** Rejects unless a reload that the caller asks for may pass the freezes of the namespace. */
export async function mustOverrideFreeze(caller: Caller, namespace: string): Promise<void> {
  if (await caller.mayOverrideFreeze(namespace)) return;
  throw new ProblemError('Forbidden', {
    detail: 'expected the right to override freezes.reroll.dev in the namespace, to bypass its freezes',
  });
}

/** Rejects unless the caller may change every workload that uses the source. */
export async function mustChangeAllOf(caller: Caller, source: Key<string>): Promise<void> {
  await mustSee(caller, namespaceOf(source));
  if (await caller.mayChangeAll(namespaceOf(source))) return;
  throw new ProblemError('Forbidden', {
    detail: 'expected the right to patch every Deployment of the namespace',
  });
}

/** Rejects unless the caller sees the namespace. */
export async function mustSee(caller: Caller, namespace: string): Promise<void> {
  if ((await caller.seesAll()) || (await caller.sees(namespace))) return;
  throw new ProblemError('NotFound');
}
