import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ensureProgram } from '../../tools/cluster/src/build/build-program.ts';
import { run } from '../../tools/cluster/src/run.ts';
import { keyOf, objectsOf } from '../../tools/deploy/kustomize/objects.ts';
import { BASE, CREDENTIALS, OVERLAYS } from '../../tools/deploy/kustomize/variants.ts';
import { at, madeSecrets } from '../../tools/deploy/look.ts';
import { type Manifest, manifestsOf } from '../../tools/deploy/render.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { APPLY_PATCH, connect } from '../support/kube.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = {
  base: BASE,
  ...Object.fromEntries(Object.entries(OVERLAYS).map(([name, each]) => [`overlays/${name}`, each])),
};

let kubectl: string;
/** What was built. */
let folder: string;
beforeAll(async () => {
  kubectl = await ensureProgram('kubectl', { log: console.log });
  folder = mkdtempSync(join(tmpdir(), 'reroll-kustomize-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  // A dry run finds only namespaces that are there. They stay: another spec needs one of them too.
  for (const name of ['reroll', 'team-a', 'tools']) {
    const query = { fieldManager: 'e2e', force: true };
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    const options = { contentType: APPLY_PATCH, query };
    await connect(sharedCluster()).patch(`/api/v1/namespaces/${name}`, object, options);
  }
});

it.each(Object.entries(FOLDERS))(
  'deploy/kustomize/%s is what the chart makes of its values',
  async (name, variant) => {
    const objects = await objectsOf(variant);
    expect(byKey(await built(name, join(ROOT, 'deploy/kustomize', name)))).toEqual(byKey(objects));
    // What pods need and nothing here makes.
    const made = madeSecrets(objects).map((each) => /=([^:]+):/u.exec(each)?.[1]);
    const others = secretsIn(objects).filter((secret) => !made.includes(secret));
    expect([...new Set(others)]).toEqual(name === 'overlays/external-redis' ? [CREDENTIALS] : []);
  },
);

it('an overlay is a base for others: another namespace, another image', async () => {
  const parent = join(ROOT, 'deploy/kustomize/overlays/namespaced');
  const own = join(folder, 'own');
  mkdirSync(own);
  const kustomization = {
    namespace: 'team-a',
    resources: [relative(own, parent)],
    images: [{ name: 'ghcr.io/reroll/reroll', newName: 'registry.example/reroll', newTag: '9.9.9' }],
  };
  writeFileSync(join(own, 'kustomization.yaml'), JSON.stringify(kustomization));
  const objects = await built('own', own);
  expect([...new Set(objects.map(({ metadata }) => metadata.namespace))]).toEqual(['team-a']);
  const subjects = objects.flatMap((object) => (at(object, 'subjects') ?? []) as readonly unknown[]);
  expect([...new Set(subjects.map((subject) => at(subject, 'namespace')))]).toEqual(['team-a']);
  const watcher = objects.find((object) => keyOf(object) === 'Deployment/reroll-watcher');
  expect(at(watcher, 'spec.template.spec.containers.0.image')).toBe('registry.example/reroll:9.9.9');
});

it('the patch in deploy/README.md lets the policies apply to the account in another namespace', async () => {
  const readme = readFileSync(join(ROOT, 'deploy/README.md'), 'utf8');
  const [, text = ''] = /^```yaml\n(namespace: .*?)^```/msu.exec(readme) ?? [];
  const { namespace, patches } = parse(text) as { namespace: string; patches: unknown };
  const own = join(folder, 'patched');
  mkdirSync(own);
  const resources = [relative(own, join(ROOT, 'deploy/kustomize/base'))];
  writeFileSync(join(own, 'kustomization.yaml'), JSON.stringify({ namespace, resources, patches }));
  const policies = (await built('patched', own)).filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
  const account = `system:serviceaccount:${namespace}:reroll-worker`;
  expect(policies.map((policy) => at(policy, 'spec.matchConditions.0.expression'))).toEqual([
    `request.userInfo.username == '${account}'`,
    `request.userInfo.username == '${account}'`,
    `request.userInfo.username == '${account}'`,
  ]);
});

it('all of it, and deploy/manifests/reroll.yaml, is accepted by an API server', async () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  expect(files).toHaveLength(Object.keys(FOLDERS).length + 2);
  const all = [join(ROOT, 'deploy/manifests/reroll.yaml'), ...files.map((name) => join(folder, name))];
  const args = ['apply', '--server-side', '--dry-run=server'];
  const { code, tail } = await run(kubectl, [
    `--kubeconfig=${sharedCluster().kubeconfig}`,
    ...args,
    ...all.map((file) => `--filename=${file}`),
  ]);
  expect({ code, tail }).toEqual({ code: 0, tail });
});

/** What kustomize builds of a folder, which is kept under this name. */
async function built(name: string, of: string): Promise<readonly Manifest[]> {
  const { code, stdout, tail } = await run(kubectl, ['kustomize', of]);
  expect({ code, tail }).toEqual({ code: 0, tail });
  writeFileSync(join(folder, `${name.replace('/', '-')}.yaml`), stdout);
  return manifestsOf(stdout);
}

function byKey(objects: readonly Manifest[]): Readonly<Record<string, Manifest>> {
  return Object.fromEntries(objects.map((object) => [keyOf(object), ofCluster(object)]));
}

/** kubectl's kustomize does not know that these are in no namespace. The API server takes them all the same. */
function ofCluster(object: Manifest): Manifest {
  if (!object.kind.startsWith('ValidatingAdmissionPolicy')) return object;
  const { namespace: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Names of the Secrets that pods mount or take variables from. */
function secretsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const named = ['secretName', 'secretKeyRef.name', 'secret.name'].map((path) => at(value, path));
  const inner = Object.values(value).flatMap(secretsIn);
  return [...named.filter((name) => typeof name === 'string'), ...inner];
}
