import { execFileSync } from 'node:child_process';
import { ensureProgram } from '../../../tools/cluster/src/build/build-program.ts';
import { refOf, type Manifest, type Space } from '../kube.ts';

/** Whether Argo CD would show an object as OutOfSync, by its own code, which takes minutes to build once. */
export async function isOutOfSync(
  space: Space,
  target: Manifest,
  ignoreDifferences: readonly object[] = [],
): Promise<boolean> {
  const program = await ensureProgram('argo-cd-diff', { log: (line) => console.error(line) });
  const live = await space.get(refOf(target));
  const metadata = { ...target.metadata, namespace: space.name };
  const input = JSON.stringify({ live, target: { ...target, metadata }, ignoreDifferences });
  return JSON.parse(execFileSync(program, { input }).toString()) as boolean;
}
