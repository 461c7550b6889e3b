import type { KubeClient } from '../../libs/shared/src/kube/connection.ts';
import { KubeError } from '../../libs/shared/src/kube/errors.ts';
import { cleanUp } from './cleanup.ts';
import type { Space } from './kube.ts';
import { eventually } from './wait.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';

export interface RefusalOptions {
  /** Names of the workloads whose every update the API server is to refuse. */
  readonly workloads: readonly string[];
  /** `Invalid` is a 422 with causes, `Forbidden` a 403. */
  readonly reason: 'Invalid' | 'Forbidden';
  /** CEL for the text of the refusal. Default: a fixed one. */
  readonly message?: string;
}

export interface Refusal {
  /** Resolves when updates are allowed again. */
  end(): Promise<void>;
}

/** Makes the API server refuse updates of the pod templates of some Deployments; resolves when it does. */
export async function refuseUpdates(space: Space, options: RefusalOptions): Promise<Refusal> {
  const { client, name } = space;
  const policy = policyOf(space, options);
  await client.post(`${GROUP}/validatingadmissionpolicies`, policy);
  await client.post(`${GROUP}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
  let ended = false;
  const end = async (): Promise<void> => {
    if (ended) return;
    ended = true;
    for (const plural of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies']) {
      await client.request({ method: 'DELETE', path: `${GROUP}/${plural}/${name}` });
    }
    await eventually(async () => (await statusOfUpdate(client, space, options)) === 200);
  };
  cleanUp(end);
  const status = options.reason === 'Invalid' ? 422 : 403;
  await eventually(async () => (await statusOfUpdate(client, space, options)) === status, {
    what: 'the policy to be in force',
    within: 60_000,
  });
  return { end };
}

function policyOf(space: Space, options: RefusalOptions): unknown {
  const { reason, message = `'refused by a policy of the specs'` } = options;
  const names = options.workloads.map((name) => `'${name}'`).join();
  return {
    metadata: { name: space.name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': space.name } },
        resourceRules: [
          { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments'] },
        ],
      },
      validations: [
        {
          expression: `!(object.metadata.name in [${names}]) || object.spec.template == oldObject.spec.template`,
          reason,
          messageExpression: message,
        },
      ],
    },
  };
}

/** What the API server would answer to an update of the first of them. */
async function statusOfUpdate(client: KubeClient, space: Space, options: RefusalOptions): Promise<number> {
  const path = space.path(`Deployment/${options.workloads[0] ?? ''}`);
  const body = [{ op: 'add', path: '/spec/template/metadata/labels/probe', value: 'x' }];
  try {
    return (await client.patch(path, body, { query: { dryRun: 'All' } })).status;
  } catch (error) {
    if (error instanceof KubeError) return error.status;
    throw error;
  }
}
