import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { ensureProgram } from '../../tools/cluster/src/build/build-program.ts';
import { NAMESPACE_ANNOTATIONS } from '../../tools/cluster/src/node/place.ts';
import { run } from '../../tools/cluster/src/run.ts';
import { CHART } from '../../tools/deploy/values/values-comments.ts';
import { cleanUp } from '../support/cleanup.ts';
import { connect, Space } from '../support/kube.ts';
import { eventually } from '../support/wait.ts';
import { Helm } from './support/helm.ts';
import { installCluster } from './support/release.ts';

/** Installs without Helm in the cluster: what is rendered is applied, as Argo CD and Flux do it, and once more. */
const ONE_FILE = join(import.meta.dirname, '../../deploy/manifests/reroll.yaml');

let kubectl: string;
beforeAll(async () => {
  kubectl = await ensureProgram('kubectl', { log: console.log });
});

/** A namespace whose pods the real node runs. */
async function spaceNamed(name: string): Promise<Space> {
  const client = connect(installCluster());
  await client.post('/api/v1/namespaces', { metadata: { name, annotations: NAMESPACE_ANNOTATIONS } });
  const space = new Space(client, name);
  cleanUp(() => space.end());
  return space;
}

async function kubectlWith(...args: readonly string[]): Promise<string> {
  const { code, stdout, tail } = await run(kubectl, [`--kubeconfig=${installCluster().kubeconfig}`, ...args]);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with code ${code}:\n${tail}`);
  return stdout;
}

async function apply(file: string): Promise<void> {
  await kubectlWith('apply', `--filename=${file}`);
}

/** Fails with what would change: kubectl diff ends with 1 then. What apply prints does not tell: it patches some objects in vain. */
async function applyAgain(file: string): Promise<void> {
  await kubectlWith('diff', `--filename=${file}`);
  await apply(file);
}

/** Resolves when everything is ready, and the Job has ended. */
async function uidsOfReady(space: Space, pods: number): Promise<readonly string[]> {
  return await eventually(
    async () => {
      const all = (await space.list('Pod')) as unknown as readonly {
        metadata: { uid: string };
        status?: { phase?: string; conditions?: readonly { type: string; status: string }[] };
      }[];
      const isReady = all.map(
        ({ status }) =>
          status?.phase === 'Succeeded' ||
          (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True'),
      );
      return all.length === pods && isReady.every(Boolean)
        ? all.map(({ metadata }) => metadata.uid).sort()
        : undefined;
    },
    { what: `${pods} pods of ${space.name} to be ready or done`, within: 150_000 },
  );
}

it('what helm template renders installs by kubectl apply, and applied again changes nothing', async () => {
  const space = await spaceNamed(`rendered-${randomBytes(2).toString('hex')}`);
  const helm = await Helm.of(installCluster());
  const folder = mkdtempSync(join(tmpdir(), 'reroll-rendered-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  const render = async (name: string): Promise<string> => {
    const args = ['template', 'reroll', CHART, '--namespace', space.name, '--no-hooks'];
    const values = helm.values({ mode: 'standalone', namespace: space.name });
    writeFileSync(join(folder, name), await helm.run([...args, ...values]));
    return join(folder, name);
  };
  const first = await render('first.yaml');
  cleanUp(() => kubectlWith('delete', '--ignore-not-found', '--wait=false', `--filename=${first}`));
  await apply(first);
  const uids = await uidsOfReady(space, 2);
  const { data } = await space.get('Secret/reroll-hash-keys');

  await applyAgain(await render('second.yaml'));
  expect(await uidsOfReady(space, 2)).toEqual(uids);
  expect((await space.get('Secret/reroll-hash-keys')).data).toEqual(data);
});

it('deploy/manifests/reroll.yaml installs as it is, and applied again changes nothing', async () => {
  const space = await spaceNamed('reroll');
  cleanUp(() => kubectlWith('delete', '--ignore-not-found', '--wait=false', `--filename=${ONE_FILE}`));
  await apply(ONE_FILE);
  // Two watchers, two workers, an admin, a Redis, and the Job's.
  const uids = await uidsOfReady(space, 7);
  await applyAgain(ONE_FILE);
  expect(await uidsOfReady(space, 7)).toEqual(uids);
});
