import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureProgram } from '../../tools/cluster/src/build/build-program.ts';
import {
  argoRollout,
  auto,
  configMap,
  deployment,
  statefulSet,
  usingEnvFrom,
} from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { CommandLine } from '../support/admin/command-line.ts';
import { installCrd, removeCrd } from '../support/objects/crds.ts';
import { connect, namespace, type Manifest, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { inStep, settled } from '../support/objects/rollouts.ts';

/** Whether Argo CD shows an object as OutOfSync after a reload, by its own code. Building it once takes minutes. */
const KINDS = { Deployment: deployment, StatefulSet: statefulSet, Rollout: argoRollout };
type Kind = keyof typeof KINDS;

/** As docs/strategies.md has it. */
const IGNORE_DIFFERENCES = [{ group: 'apps', kind: '*', managedFieldsManagers: ['Reloader'] }];

let space: Space;
let reroll: Reroll;
let argoCdDiff: string;
let commandLine: CommandLine;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  argoCdDiff = await ensureProgram('argo-cd-diff', { log: (line) => console.error(line) });
  commandLine = await CommandLine.open(cluster, space);
  cleanUp(() => removeCrd(space.client, 'Rollout'));
  await installCrd(space.client, 'Rollout');
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    watcherFlags: ['--is-argo-rollouts=true', '--discovery-interval=200ms'],
    workers: 0,
  });
}, 1_800_000);

function nameOf(kind: Kind, strategy: string): string {
  return `${kind.toLowerCase()}-${strategy}`;
}

function manifest(kind: Kind, strategy: string): Manifest {
  return KINDS[kind](nameOf(kind, strategy), auto(), usingEnvFrom(strategy));
}

async function isOutOfSync(target: Manifest, ignoreDifferences: readonly object[] = []): Promise<boolean> {
  const live = await space.get(`${target.kind}/${target.metadata.name}`);
  const metadata = { ...target.metadata, namespace: space.name };
  const input = JSON.stringify({ live, target: { ...target, metadata }, ignoreDifferences });
  return JSON.parse(execFileSync(argoCdDiff, { input }).toString()) as boolean;
}

/** What the owner edits: the number of replicas. */
function withTwoReplicas(target: Manifest & { readonly spec?: object }): Manifest {
  return { ...target, spec: { ...target.spec, replicas: 2 } } as Manifest;
}

describe.each(['env-vars', 'annotations'] as const)('with the strategy %s', (strategy) => {
  const kinds = Object.keys(KINDS) as Kind[];

  beforeAll(async () => {
    await Promise.all(reroll.workers.map((worker) => worker.stop()));
    reroll.start('worker', [`--reload-strategy=${strategy}`]);
    await reroll.ready();
    await space.apply(configMap(strategy, { v: '1' }));
    for (const kind of kinds) {
      await commandLine.apply(manifest(kind, strategy), '--field-manager=argocd-controller');
    }
    const refs = kinds.map((kind) => `${kind}/${nameOf(kind, strategy)}`);
    for (const ref of refs) await inStep(space, ref, [`ConfigMap/${strategy}`]);
    await space.setData(`ConfigMap/${strategy}`, { v: '2' });
    for (const ref of refs) await inStep(space, ref, [`ConfigMap/${strategy}`]);
    await settled(reroll, space);
  });

  it.each(kinds)('a %s that was reloaded is not OutOfSync, and one that was edited is', async (kind) => {
    const target = manifest(kind, strategy);
    const edited = withTwoReplicas(target);
    for (const settings of [[], IGNORE_DIFFERENCES]) {
      expect(await isOutOfSync(target, settings)).toBe(false);
      expect(await isOutOfSync(edited, settings), 'an edit').toBe(true);
    }
  });
});
