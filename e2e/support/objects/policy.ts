import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { collectionPath } from '@reroll/kube/objects';
import { cleanUp } from '../cleanup.ts';
import { resourceOf, type Space } from '../kube.ts';
import { eventually } from '../wait.ts';

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
  const names = namesIn(options);
  const policy = policyOf(space, options, {
    rule: { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments'] },
    expression: `!(object.metadata.name in [${names}]) || object.spec.template == oldObject.spec.template`,
  });
  const status = (): Promise<number> => statusOfUpdate(space.client, space, options);
  return await enforce(space, policy, { refused: statusOf(options), allowed: 200, status });
}

/** Makes the API server refuse to create some Jobs; resolves when it does. They have to exist now. */
export async function refuseCreatedJobs(space: Space, options: RefusalOptions): Promise<Refusal> {
  const policy = policyOf(space, options, {
    rule: { apiGroups: ['batch'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['jobs'] },
    expression: `!(object.metadata.name in [${namesIn(options)}])`,
  });
  const status = (): Promise<number> => statusOfJob(space.client, space, options);
  return await enforce(space, policy, { refused: statusOf(options), allowed: 409, status });
}

async function enforce(
  { client, name }: Space,
  policy: unknown,
  probe: { refused: number; allowed: number; status: () => Promise<number> },
): Promise<Refusal> {
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
    await eventually(async () => (await probe.status()) === probe.allowed);
  };
  cleanUp(end);
  await eventually(async () => (await probe.status()) === probe.refused, {
    what: 'the policy to be in force',
    within: 60_000,
  });
  return { end };
}

function statusOf({ reason }: RefusalOptions): number {
  return reason === 'Invalid' ? 422 : 403;
}

function namesIn({ workloads }: RefusalOptions): string {
  return workloads.map((name) => `'${name}'`).join();
}

function policyOf(space: Space, options: RefusalOptions, by: { rule: object; expression: string }): unknown {
  const { reason, message = `'refused by a policy of the specs'` } = options;
  return {
    metadata: { name: space.name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': space.name } },
        resourceRules: [by.rule],
      },
      validations: [{ expression: by.expression, reason, messageExpression: message }],
    },
  };
}

/** What the API server would answer to the creation of the first of them: 409, for it is there. */
async function statusOfJob(client: KubeClient, space: Space, options: RefusalOptions): Promise<number> {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'x' }] } };
  const body = { metadata: { name: options.workloads[0] }, spec: { template } };
  const path = collectionPath(resourceOf('Job'), space.name);
  try {
    return (await client.post(path, body, { query: { dryRun: 'All' } })).status;
  } catch (error) {
    if (error instanceof KubeError) return error.status;
    throw error;
  }
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
