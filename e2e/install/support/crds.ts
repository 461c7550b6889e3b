import type { KubeClient } from '@reroll/kube/client/connection';
import { cleanUp } from '../../support/cleanup.ts';
import { removeCrdNamed } from '../../support/objects/crds.ts';
import { eventually } from '../../support/wait.ts';

/** Installs CRDs that take anything, by kind and API version, and removes them when the file ends. */
export async function installCrds(
  client: KubeClient,
  kinds: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [kind, apiVersion] of Object.entries(kinds)) {
    const [group = '', version = ''] = apiVersion.split('/');
    const plural = `${kind.toLowerCase()}s`;
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: `${plural}.${group}`,
        // Without it the API server protects groups of Kubernetes' own, such as autoscaling.k8s.io.
        annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/kubernetes/pull/63797' },
      },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind, plural, singular: kind.toLowerCase() },
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    });
    cleanUp(() => removeCrdNamed(client, `${plural}.${group}`));
    await eventually(() => client.get(`/apis/${apiVersion}/${plural}`), {
      what: `the collection of ${kind}`,
    });
  }
}
