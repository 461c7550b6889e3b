import { readFileSync } from 'node:fs';
import { run } from '../../../tools/cluster/src/run.ts';
import { manifestsOf } from '../../../tools/deploy/render.ts';
import { ensureModuleFiles, type Pin } from '../../../tools/deploy/schemas/module-files.ts';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import type { KubeClient } from '@reroll/kube/client/connection';
import { cleanUp } from '../../support/cleanup.ts';
import { removeCrdNamed } from '../../support/objects/crds.ts';

/** The projects' own CRDs, of the versions that the examples were written for. */
const PINS: readonly Pin[] = [
  {
    module: 'github.com/external-secrets/external-secrets@v1.3.2',
    sum: 'h1:u2J8RjlHIeF0oZCqtl92adI/uZWUwOesJIDkfql6LqQ=',
    files: ['externalsecrets', 'secretstores'].map(
      (plural) => `config/crds/bases/external-secrets.io_${plural}.yaml`,
    ),
  },
  {
    module: 'github.com/cert-manager/cert-manager@v1.21.2',
    sum: 'h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=',
    files: ['certificates', 'issuers'].map((plural) => `deploy/crds/cert-manager.io_${plural}.yaml`),
  },
  {
    module: 'github.com/bitnami-labs/sealed-secrets@v0.40.0',
    sum: 'h1:rvCP35JL8ZV5LNA2SrwNR6iLyoM3ulrSFWN0lBtYEYI=',
    files: ['helm/sealed-secrets/crds/bitnami.com_sealedsecrets.yaml'],
  },
  {
    module: 'github.com/argoproj/argo-cd/v3@v3.2.12',
    sum: 'h1:XbOyqcoPIjMhiP+y05Zi2U+HfG3b2TNfGJgVuK5Y8g0=',
    files: ['manifests/crds/application-crd.yaml'],
  },
  {
    module: 'github.com/fluxcd/helm-controller@v1.4.0',
    sum: 'h1:rkm8rmB6Na7eNc4pJOnvtXEaJ19iKluRtayHKjBxcUM=',
    files: ['config/crd/bases/helm.toolkit.fluxcd.io_helmreleases.yaml'],
  },
  {
    module: 'github.com/fluxcd/kustomize-controller@v1.7.3',
    sum: 'h1:SzNnGn/4ObAPEHHleM5U7y/AKxKXph3Vj6ZhteeXw8M=',
    files: ['config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml'],
  },
  {
    module: 'github.com/fluxcd/source-controller@v1.9.1',
    sum: 'h1:FF8XTxLND/pXzVtUESKURUDiItFJQDZBZkbHvZimN8s=',
    files: ['config/crd/bases/source.toolkit.fluxcd.io_gitrepositories.yaml'],
  },
];

/** Installs them, and resolves when the API server has them; they go when the file of specs ends. */
export async function installCrds(cluster: Cluster, client: KubeClient, kubectl: string): Promise<void> {
  const files = await ensureModuleFiles(PINS, { log: console.log });
  const names = files.flatMap((file) =>
    manifestsOf(readFileSync(file, 'utf8')).map(({ metadata }) => metadata.name),
  );
  cleanUp(async () => {
    for (const name of names) await removeCrdNamed(client, name);
  });
  const own = [`--kubeconfig=${cluster.kubeconfig}`];
  // Client-side apply would keep a copy in an annotation, for which these are too large.
  await kubectlRun(kubectl, [...own, 'apply', '--server-side', ...files.map((file) => `--filename=${file}`)]);
  const wait = ['wait', '--for=condition=Established', '--timeout=60s'];
  await kubectlRun(kubectl, [...own, ...wait, ...names.map((name) => `crd/${name}`)]);
}

async function kubectlRun(kubectl: string, args: readonly string[]): Promise<void> {
  const { code, tail } = await run(kubectl, args);
  if (code !== 0) throw new Error(`expected kubectl ${args.join(' ')} to succeed: ${tail}`);
}
