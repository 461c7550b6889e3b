import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureProgram } from '../../tools/cluster/src/build/build-program.ts';
import type { RunResult } from '../../tools/cluster/src/run.ts';
import { at, find } from '../../tools/deploy/look.ts';
import { type ChartValues, type Manifest, manifestsOf, manifestsWith } from '../../tools/deploy/render.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { Space, connect, namespace } from '../support/kube.ts';
import { isOutOfSync } from '../support/objects/argo-cd.ts';
import {
  classesSettled,
  hasVersion,
  installDriver,
  removeDriver,
  status,
} from '../support/objects/provider-classes.ts';
import {
  RolloutCount,
  countRollouts,
  inStep,
  markerVariables,
  settled,
} from '../support/objects/rollouts.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';
import { installCrds } from './support/crds.ts';
import type { Tools } from './support/commands.ts';
import { EXAMPLES, Example, NAMES } from './support/example.ts';
import { installKubeseal, issue, refresh, unseal } from './support/players.ts';

/** Each example is applied by the commands of its README, and does what that says. Other projects' controllers are played. */
const LABEL = `reroll-e2e/${randomBytes(4).toString('hex')}`;
const WEB = 'Deployment/web';
const CSI = { reloader: { enableCSIIntegration: true } };
/** Namespaces that manifests name. */
const NAMED = ['argocd', 'flux-system'];

const examples = new Map<string, Example>();
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  const client = connect(cluster);
  const tools: Tools = {
    kubeconfig: cluster.kubeconfig,
    kubectl: await ensureProgram('kubectl', { log: console.log }),
  };
  await ensureProgram('argo-cd-diff', { log: console.log });
  await installCrds(cluster, client, tools.kubectl);
  for (const name of NAMED) {
    await client.post('/api/v1/namespaces', { metadata: { name } });
    cleanUp(() => new Space(client, name).end());
  }
  for (const name of NAMES) {
    const space = await namespace(client, name);
    // Holds of a Namespace end at once only in an installation that watches Namespaces.
    await space.patchNamespace({ labels: { [LABEL]: 'yes' } });
    examples.set(name, new Example(name, space, tools));
  }
  const { space } = exampleOf('vault-csi');
  await installDriver(space);
  cleanUp(() => removeDriver(space));
  reroll = await startReroll({
    cluster,
    namespaces: 'all',
    chart: CSI,
    flags: [`--namespace-selector=${LABEL}=yes`],
    watcherFlags: ['--enable-csi-integration'],
    // The metric of certificates is made by it.
    sweepInterval: '1s',
  });
}, 1_800_000);

function exampleOf(name: string): Example {
  const example = examples.get(name);
  if (!example) throw new RangeError(`expected one of ${NAMES.join()}, given ${name}`);
  return example;
}

/** Does this, waits until `web` has the data of these sources and all is quiet, and resolves with how often it was reloaded. */
async function reloadsOf(
  { space }: Example,
  sources: readonly string[],
  act: () => Promise<unknown>,
): Promise<number> {
  const rollouts = await RolloutCount.from(space, WEB);
  await act();
  await inStep(space, WEB, sources);
  await settled(reroll, space);
  return await rollouts.now();
}

/** Runs the README's command that lists the Events of reloads, which come a little after them. */
async function showsReload(example: Example): Promise<void> {
  await example.space.event(WEB, 'Reloaded');
  expect(await example.run('get events')).toContain('deployment/web');
}

/** As somebody might write it. The numbers keep kubectl from saying the same of two objects only once. */
function misspelled(object: Manifest, number: number): object {
  const typo = { [`mispelled${number}`]: '1' };
  const spec = at(object, 'spec');
  return spec === undefined ? { ...object, ...typo } : { ...object, spec: { ...spec, ...typo } };
}

describe.each(NAMES)('examples/%s', (name) => {
  it('has a README of at most 200 words, and a line in the list', () => {
    const text = readFileSync(join(EXAMPLES, name, 'README.md'), 'utf8');
    expect(text.split(/\s+/u).length).toBeLessThanOrEqual(200);
    expect(readFileSync(join(EXAMPLES, 'README.md'), 'utf8')).toContain(`(${name}/README.md)`);
  });

  it('is accepted by an API server that knows its kinds, and with a misspelled field it is not', async () => {
    const example = exampleOf(name);
    const objects = await example.objects();
    const apply = async (file: string, items: readonly object[]): Promise<RunResult> => {
      // A List would be validated by kubectl itself.
      const documents = items.map((item) => JSON.stringify(item));
      writeFileSync(join(example.root, file), documents.join('\n---\n'));
      return await example.attempt(`kubectl apply --dry-run=server --validate=strict -n default -f ${file}`);
    };
    const namespaced = objects.map((object) => withoutNamespace(object));
    const { code, stdout, tail } = await apply('all.yaml', namespaced);
    expect({ code, tail }).toEqual({ code: 0, tail });
    expect(stdout.trimEnd().split('\n')).toHaveLength(objects.length);
    const refused = await apply('misspelled.yaml', namespaced.map(misspelled));
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    for (const [number, object] of objects.entries()) {
      const field = `${'spec' in object ? 'spec.' : ''}mispelled${number}`;
      expect(refused.tail).toContain(`strict decoding error: unknown field "${field}"`);
    }
  });
});

/** So that a dry run needs no other than `default`. */
function withoutNamespace(object: Manifest): Manifest {
  const { namespace: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

it('web-app: a change of the ConfigMap and one of the Secret are one reload each, and a label is none', async () => {
  const example = exampleOf('web-app');
  const sources = ['ConfigMap/web-settings', 'Secret/web-login'];
  await example.run('apply');
  await example.run('rollout status');
  await inStep(example.space, WEB, sources);
  expect(await reloadsOf(example, sources, () => example.run('patch configmap'))).toBe(1);
  await showsReload(example);
  expect(await reloadsOf(example, sources, () => example.run('patch secret'))).toBe(1);
  expect(await example.run('reroll wait')).toMatch(/converged \(uses: [1-9]/u);
  expect(await reloadsOf(example, sources, () => example.run('label secret'))).toBe(0);
  expect(example.left).toEqual([]);
});

it('external-secrets: the first value reloads nothing, a rotation once, a refresh with the same value nothing', async () => {
  const example = exampleOf('external-secrets');
  const sources = ['Secret/db'];
  await example.run('apply');
  expect(await reloadsOf(example, sources, () => refresh(example, 'db'))).toBe(0);
  await example.run('patch secretstore');
  const rotate = async (): Promise<void> => {
    await example.run('force-sync');
    await refresh(example, 'db');
  };
  expect(await reloadsOf(example, sources, rotate)).toBe(1);
  await showsReload(example);
  expect(await reloadsOf(example, sources, rotate)).toBe(0);
  expect(example.left).toEqual([]);
});

it('cert-manager: a renewed certificate is one reload, and the metric has the date that the pods loaded', async () => {
  const example = exampleOf('cert-manager');
  const sources = ['Secret/web-tls'];
  const { name } = example.space;
  const shows = async (expiresAt: number): Promise<void> => {
    const series = `reroll_certificate_expiry_timestamp_seconds{secret_namespace="${name}",secret="web-tls"}`;
    await eventually(async () => {
      expect((await (await reroll.leader()).metrics()).split('\n')).toContain(`${series} ${expiresAt}`);
      return true;
    });
  };
  await example.run('apply');
  const sooner = await issue(example, 'web-tls', 'sooner');
  await inStep(example.space, WEB, sources);
  await shows(sooner);
  let later = 0;
  const renew = async (): Promise<void> => {
    example.standIn('cmctl renew');
    later = await issue(example, 'web-tls', 'later');
  };
  expect(await reloadsOf(example, sources, renew)).toBe(1);
  await showsReload(example);
  expect(await example.run('reroll wait')).toMatch(/converged \(uses: [1-9]/u);
  await shows(later);
  expect(example.left).toEqual([]);
});

it('vault-csi: the chart turns it on, and a rotation by two pods is one reload', async () => {
  const example = exampleOf('vault-csi');
  const { space } = example;
  expect(example.standIn('helm upgrade')).toContain('--set reloader.enableCSIIntegration=true');
  const chart = await manifestsWith(CSI);
  const watcher = find(chart, 'Deployment', 'reroll-watcher');
  expect(at(watcher, 'spec.template.spec.containers.0.args')).toContain('--enable-csi-integration=true');
  await example.run('apply');
  await space.apply(status('web-1', 'db', 'v1'), status('web-2', 'db', 'v1'));
  await hasVersion(space, WEB, { name: 'db', version: 'v1' });
  await classesSettled(reroll, space);
  const rollouts = await RolloutCount.from(space, WEB);
  example.standIn('vault kv put');
  await space.apply(status('web-1', 'db', 'v2'), status('web-2', 'db', 'v2'));
  await hasVersion(space, WEB, { name: 'db', version: 'v2' });
  await classesSettled(reroll, space);
  expect(await rollouts.now()).toBe(1);
  expect(await example.run('get secretproviderclasspodstatuses')).toContain('version: v2');
  await showsReload(example);
  expect(example.left).toEqual([]);
});

it('sealed-secrets: another password is one reload, the same sealed again is none', async () => {
  const example = exampleOf('sealed-secrets');
  const sources = ['Secret/db'];
  installKubeseal(example);
  const seal = async (): Promise<void> => {
    await example.run('kubeseal');
    await example.run('kubectl apply');
    await unseal(example, 'db');
  };
  await seal();
  await inStep(example.space, WEB, sources);
  const commands = example.left.slice(0, 2);
  expect(await reloadsOf(example, sources, seal)).toBe(1);
  await showsReload(example);
  const sealAgain = async (): Promise<void> => {
    const before = await example.space.get('SealedSecret/db');
    for (const command of commands) await example.shell(command);
    expect((await example.space.get('SealedSecret/db')).spec).not.toEqual(before.spec);
    await unseal(example, 'db');
  };
  expect(await reloadsOf(example, sources, sealAgain)).toBe(0);
  expect(example.left).toEqual([]);
});

describe.each([
  ['argo-cd', 'kubectl apply --field-manager=argocd-controller'],
  ['flux', 'kubectl apply --server-side --field-manager=kustomize-controller'],
])('%s', (name, apply) => {
  const sources = ['ConfigMap/web-settings', 'Secret/web-login'];

  it('installs Reroll by values that the chart takes', async () => {
    const objects = await exampleOf(name).objects();
    const values = objects.flatMap((object) =>
      [at(object, 'spec.source.helm.valuesObject'), at(object, 'spec.values')].filter(
        (each) => each !== undefined,
      ),
    );
    expect(values).toEqual([{ reloader: { reloadStrategy: 'annotations' } }]);
    const chart = await manifestsWith(values[0] as ChartValues);
    const worker = find(chart, 'Deployment', 'reroll-worker');
    expect(at(worker, 'spec.template.spec.containers.0.args')).toContain('--reload-strategy=annotations');
  });

  it('applies web-app, which is reloaded once for a change in git, and not when git is applied again', async () => {
    const example = exampleOf(name);
    const { space } = example;
    await example.run(`-f examples/${name}`);
    const sync = (): Promise<string> => example.shell(`${apply} -n ${space.name} -f examples/web-app`);
    await sync();
    await inStep(space, WEB, sources);
    const commit = async (): Promise<void> => {
      example.edit('../web-app/configmap.yaml', 'Hello', 'Good morning');
      await sync();
    };
    expect(await reloadsOf(example, sources, commit)).toBe(1);
    await showsReload(example);
    const marked = (await space.get(WEB)).spec.template;
    const [target] = manifestsOf(readFileSync(join(example.folder, '../web-app/deployment.yaml'), 'utf8'));
    expect(await isOutOfSync(space, target as Manifest)).toBe(false);
    expect(await reloadsOf(example, sources, sync)).toBe(0);
    expect((await space.get(WEB)).spec.template).toEqual(marked);
    expect(await example.run('kubectl get')).toContain('web-app');
    expect(example.left).toEqual([]);
  });
});

it('kustomize-hashes: other data are one rollout, by Kustomize, and Reroll adds none; the Secret is its own', async () => {
  const example = exampleOf('kustomize-hashes');
  const { space } = example;
  const ofPods = async (): Promise<string> => {
    const { spec } = await space.get(WEB);
    return `ConfigMap/${String(at(spec, 'template.spec.volumes.0.configMap.name'))}`;
  };
  await example.run('create secret');
  await example.run('apply -n');
  const first = await ofPods();
  await inStep(space, WEB, [first, 'Secret/db']);
  const rollouts = await RolloutCount.from(space, WEB);
  await example.run('echo');
  await example.run('apply -n');
  const second = await ofPods();
  expect(second).not.toBe(first);
  await inStep(space, WEB, [second, 'Secret/db']);
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(1);
  expect(markerVariables(await space.get(WEB))).toEqual({});
  expect(await example.run('rollout history')).toMatch(/^2 /mu);
  expect(await reloadsOf(example, [second, 'Secret/db'], () => example.run('patch secret'))).toBe(1);
  await showsReload(example);
  expect(example.left).toEqual([]);
});

it('safe-change: a frozen change reaches nobody, then the canary, then the others', async () => {
  const example = exampleOf('safe-change');
  const { space } = example;
  const refs = ['Deployment/canary', WEB, 'Deployment/worker'];
  // Two minutes in the README.
  example.edit('secret.yaml', '"2m"', '"2s"');
  await example.run('apply');
  for (const ref of refs) await inStep(space, ref, ['Secret/db']);
  const rollouts = await countRollouts(space, refs);
  await example.run('patch secret');
  for (const ref of refs)
    expect((await space.event(ref, 'Frozen')).message).toContain(
      'is frozen until 2099-01-04T08:00:00.000Z: year-end',
    );
  expect(await example.run('reason=Frozen')).toContain('deployment/canary');
  expect(await rollouts()).toEqual([0, 0, 0]);
  await example.run('unfreeze');
  await space.event('Deployment/canary', 'Reloaded');
  expect(await example.run('reason=Reloaded')).toContain('deployment/canary');
  for (const ref of refs) await inStep(space, ref, ['Secret/db'], { within: 60_000 });
  expect(await example.run('reroll wait')).toMatch(/converged \(uses: [1-9]/u);
  expect(await rollouts()).toEqual([1, 1, 1]);
  const reloaded = await eventually(async () => {
    const all = (await reroll.outcomes(space)).filter(({ state }) => state === 'reloaded');
    return all.length === 3 && all;
  });
  const [canary, ...others] = reloaded;
  expect(canary?.workload).toBe(keyIn(space, 'Deployment/canary'));
  for (const { at: time } of others) expect(time - (canary?.at ?? time)).toBeGreaterThanOrEqual(2_000);
  expect(example.left).toEqual([]);
});
