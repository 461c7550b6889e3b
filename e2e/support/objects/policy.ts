import { collectionPath } from '@reroll/kube/objects';
import { cleanUp } from '../cleanup.ts';
import { DRY_RUN, resourceOf, statusOf, type Space } from '../kube.ts';
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
  const status = (): Promise<number> => statusOfUpdate(space, options);
  return await enforce(space, policy, { refused: refusedStatus(options), allowed: 200, status });
}

/** Makes the API server refuse to create some Jobs; resolves when it does. They have to exist now. */
export async function refuseCreatedJobs(space: Space, options: RefusalOptions): Promise<Refusal> {
  const policy = policyOf(space, options, {
    rule: { apiGroups: ['batch'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['jobs'] },
    expression: `!(object.metadata.name in [${namesIn(options)}])`,
  });
  const status = (): Promise<number> => statusOfJob(space, options);
  return await enforce(space, policy, { refused: refusedStatus(options), allowed: 409, status });
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

function refusedStatus({ reason }: RefusalOptions): number {
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
async function statusOfJob(space: Space, { workloads: [name] }: RefusalOptions): Promise<number> {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'x' }] } };
  const path = collectionPath(resourceOf('Job'), space.name);
  return await statusOf(space.client.post(path, { metadata: { name }, spec: { template } }, DRY_RUN));
}

/** What the API server would answer to an update of the first of them. */
async function statusOfUpdate(space: Space, { workloads: [name] }: RefusalOptions): Promise<number> {
  const body = [{ op: 'add', path: '/spec/template/metadata/labels/probe', value: 'x' }];
  return await statusOf(space.client.patch(space.path(`Deployment/${name}`), body, DRY_RUN));
}
