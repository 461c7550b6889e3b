import { describe, expect, it } from 'vitest';
import { at } from '../look.ts';
import { manifestsWith, type ChartValues, type Manifest, type RenderOptions } from '../render.ts';

const API = 'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy';

async function policies(values: ChartValues, options: RenderOptions = {}): Promise<readonly Manifest[]> {
  const manifests = await manifestsWith(values, options);
  return manifests.filter(({ kind }) => kind.startsWith('ValidatingAdmissionPolicy'));
}

function enabled(value: unknown): ChartValues {
  return { worker: { admissionPolicy: { enabled: value } } };
}

/** What an expression asks the authorizer: verb, group, resource and subresource. */
function checksIn(expression: string): readonly string[] {
  const check =
    /\.group\('([^']*)'\)\.resource\('([^']*)'\)(?:\.subresource\('([^']*)'\))?\.check\('([^']*)'\)\.allowed\(\)/gu;
  return [...expression.matchAll(check)].map(([, group = '', resource = '', subresource, verb = '']) =>
    [`${verb} ${group}`, resource, ...(subresource === undefined ? [] : [subresource])].join('/'),
  );
}

describe('the policies for the account of the worker', () => {
  it.each<[string, boolean, ChartValues, RenderOptions]>([
    ['by default where the API server has them', true, {}, { api: API }],
    ['not where it has not', false, {}, {}],
    [
      'not in a scoped install, which makes nothing for the cluster',
      false,
      { reloader: { watchGlobally: false } },
      { api: API },
    ],
    ['not where rights are given by others', false, { reloader: { rbac: { enabled: false } } }, { api: API }],
    ['where they are asked for', true, enabled(true), {}],
    [
      'in a scoped install that asks for them',
      true,
      { ...enabled(true), reloader: { watchGlobally: false } },
      {},
    ],
    ['not where they are not wanted', false, enabled(false), { api: API }],
  ])('are made %s', async (_, expected, values, options) => {
    const kinds = (await policies(values, options)).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const made = ['accounts', 'jobs', 'updates'].flatMap((what) =>
      ['', 'Binding'].map((kind) => `ValidatingAdmissionPolicy${kind} reroll-reroll-worker-${what}`),
    );
    expect(kinds.sort()).toEqual(expected ? made.sort() : []);
  });

  it('refuse what they cannot decide, and each is bound', async () => {
    const all = await policies(enabled(true));
    const [bindings, own] = [true, false].map((isBinding) =>
      all.filter(({ kind }) => kind.endsWith('Binding') === isBinding),
    );
    expect(own?.map((policy) => at(policy, 'spec.failurePolicy'))).toEqual(['Fail', 'Fail', 'Fail']);
    expect(bindings?.map((binding) => at(binding, 'spec.validationActions'))).toEqual([
      ['Deny'],
      ['Deny'],
      ['Deny'],
    ]);
    expect(bindings?.map((binding) => at(binding, 'spec.policyName')).sort()).toEqual(
      own?.map(({ metadata }) => metadata.name).sort(),
    );
  });

  it('answer with 403, because 422 would read as a failed test of the patch', async () => {
    for (const policy of await policies(enabled(true))) {
      const validations = (at(policy, 'spec.validations') ?? []) as readonly { reason: string }[];
      for (const { reason } of validations) expect(reason).toBe('Forbidden');
    }
  });

  it('ask for each right that runs code or gives rights everywhere, and no policy for more than it may cost', async () => {
    const asked = (await policies(enabled(true))).map((policy) => {
      const validations = (at(policy, 'spec.validations') ?? []) as readonly { expression: string }[];
      return validations.flatMap(({ expression }) => checksIn(expression));
    });
    // The budget of a policy is 10,000,000, a check costs 350,000; the other expressions need some of it.
    for (const checks of asked) expect(checks.length).toBeLessThanOrEqual(25);
    const writes = ['create', 'patch', 'update'];
    const templates = ['apps/deployments', 'apps/daemonsets', 'apps/statefulsets', 'apps/replicasets'];
    const written = [
      ...templates,
      'batch/cronjobs',
      '/replicationcontrollers',
      '/pods',
      'admissionregistration.k8s.io/mutatingwebhookconfigurations',
    ];
    expect(asked.flat().sort()).toEqual(
      [
        '* */*',
        'escalate rbac.authorization.k8s.io/clusterroles',
        'bind rbac.authorization.k8s.io/clusterroles',
        ...['users', 'groups', 'serviceaccounts'].map((resource) => `impersonate /${resource}`),
        'create /serviceaccounts/token',
        ...['nodes/proxy', 'pods/exec'].flatMap((resource) => [`get /${resource}`, `create /${resource}`]),
        'patch /pods/ephemeralcontainers',
        'update /pods/ephemeralcontainers',
        ...written.flatMap((resource) => writes.map((verb) => `${verb} ${resource}`)),
        'create batch/jobs',
      ].sort(),
    );
  });

  it.each([
    ['reroll:reroll-worker', {}],
    ['reroll:robot', { reloader: { serviceAccount: { name: 'robot' } } }],
    ['ops:reroll-worker', { namespace: 'ops' }],
    ['reroll:reroll-watcher', { mode: 'standalone' }],
  ])('are for system:serviceaccount:%s', async (account, values) => {
    for (const policy of await policies({ ...enabled(true), ...values })) {
      if (policy.kind.endsWith('Binding')) continue;
      expect(at(policy, 'spec.matchConditions.0.expression')).toBe(
        `request.userInfo.username == 'system:serviceaccount:${account}'`,
      );
    }
  });
});
