import { readApproval } from '@reroll/core/holds/approval';
import { APPROVAL_ANNOTATION, WINDOW_ANNOTATION } from '@reroll/core/holds/hold';
import { readWindows } from '@reroll/core/holds/window';
import { describe, expect, it } from 'vitest';
import { at, find, workload } from './look.ts';
import { manifestsWith, type ChartValues, type Manifest, type RenderOptions } from './render.ts';

describe('pods of watcher, worker and admin', () => {
  it.each(['watcher', 'worker', 'admin'])(
    '%s: its end has ten seconds more than --shutdown-timeout',
    async (component) => {
      const long = { reloader: { shutdownTimeout: '1m30s' } };
      const { pod, args } = workload(await manifestsWith(long), component);
      expect(args).toContain('--shutdown-timeout=1m30s');
      expect(at(pod, 'terminationGracePeriodSeconds')).toBe(100);
      const silent = await manifestsWith({ reloader: { shutdownTimeout: '' } });
      expect(at(workload(silent, component).pod, 'terminationGracePeriodSeconds')).toBe(35);
      const given = await manifestsWith({ ...long, [component]: { terminationGracePeriodSeconds: 91 } });
      expect(at(workload(given, component).pod, 'terminationGracePeriodSeconds')).toBe(91);
    },
  );

  it.each(['watcher', 'worker', 'admin'])('%s: spread over nodes, and one may be away', async (component) => {
    const manifests = await manifestsWith();
    const { pod, object } = workload(manifests, component);
    expect(at(object, 'spec.replicas')).toBe(component === 'admin' ? 1 : 2);
    const labels = at(object, 'spec.selector.matchLabels');
    expect(at(pod, 'topologySpreadConstraints')).toEqual([
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: labels },
      },
    ]);
    const budget = find(manifests, 'PodDisruptionBudget', `reroll-${component}`);
    expect(at(budget, 'spec')).toEqual({
      maxUnavailable: 1,
      // Without Redis no pod is ready, and nodes can still be drained.
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: labels },
    });
    expect(at(object, 'spec.strategy.rollingUpdate.maxUnavailable')).toBe(0);
  });

  it.each([
    [{ minAvailable: '' }, { maxUnavailable: 1 }],
    [{ maxUnavailable: '' }, { maxUnavailable: 1 }],
    [{ minAvailable: '', maxUnavailable: '50%' }, { maxUnavailable: '50%' }],
    [{ minAvailable: 0, maxUnavailable: '' }, { minAvailable: 0 }],
    [{ maxUnavailable: 0 }, { maxUnavailable: 0 }],
  ])('an empty bound of a budget is none, and 0 is one: %j', async (podDisruptionBudget, expected) => {
    const manifests = await manifestsWith({ worker: { podDisruptionBudget } });
    const budget = find(manifests, 'PodDisruptionBudget', 'reroll-worker');
    const [minAvailable, maxUnavailable] = ['minAvailable', 'maxUnavailable'].map((bound) =>
      at(budget, `spec.${bound}`),
    );
    expect({ minAvailable, maxUnavailable }).toEqual(expected);
  });

  const ha = { enableHA: true, deployment: { replicas: 2 } };
  it.each<[ChartValues, readonly string[]]>([
    [{ reloader: { ...ha, podDisruptionBudget: { enabled: true, minAvailable: 1 } } }, ['watcher', 'worker']],
    [{ reloader: { podDisruptionBudget: { enabled: true, minAvailable: 2 } } }, []],
    [{ reloader: { podDisruptionBudget: { enabled: true, minAvailable: '50%' } } }, ['watcher', 'worker']],
    [{ reloader: { podDisruptionBudget: { enabled: true, minAvailable: '51%' } } }, []],
    [{ reloader: { podDisruptionBudget: { enabled: true, minAvailable: '100%' } } }, []],
    [
      {
        reloader: { deployment: { replicas: 3 }, podDisruptionBudget: { enabled: true, minAvailable: 2 } },
        worker: { autoscaling: { enabled: true, minReplicas: 4 } },
        admin: { replicas: 2 },
      },
      ['watcher', 'worker'],
    ],
    [
      {
        reloader: { clusterName: 'c', podDisruptionBudget: { enabled: true, minAvailable: 1 } },
        worker: { keda: { enabled: true } },
      },
      ['watcher'],
    ],
    [{ mode: 'standalone', reloader: { podDisruptionBudget: { enabled: true, minAvailable: 1 } } }, []],
    [
      { mode: 'standalone', reloader: { ...ha, podDisruptionBudget: { enabled: true, minAvailable: 1 } } },
      ['standalone'],
    ],
  ])('a minAvailable for all is only for who has more pods: %j', async (values, expected) => {
    const budgets = (await manifestsWith(values)).filter(({ kind }) => kind === 'PodDisruptionBudget');
    const [bound, others] = [true, false].map((isBound) =>
      budgets.filter((budget) => (at(budget, 'spec.minAvailable') !== undefined) === isBound),
    );
    expect(bound?.map(({ metadata }) => metadata.name)).toEqual(expected.map((name) => `reroll-${name}`));
    for (const budget of others ?? []) expect(at(budget, 'spec.maxUnavailable')).toBe(1);
  });

  it('restart when a credential in our Secret changes', async () => {
    const checksum = async (url: string, options: RenderOptions = {}): Promise<unknown> => {
      const manifests = await manifestsWith({ reloader: { webhookUrl: url } }, options);
      const annotations = at(workload(manifests, 'worker').object, 'spec.template.metadata.annotations');
      return (annotations as Readonly<Record<string, string>> | undefined)?.['checksum/secret'];
    };
    expect(await checksum('https://a')).toMatch(/^[0-9a-f]{64}$/u);
    expect(await checksum('https://a')).not.toBe(await checksum('https://b'));
    expect(await checksum('')).toBeUndefined();
    // Whoever may read Deployments sees it: a hash of the values alone could be looked up.
    expect(await checksum('https://a')).not.toBe(await checksum('https://a', { namespace: 'b' }));
    expect(await checksum('https://a')).toBe(await checksum('https://a', { again: 1 }));
  });

  it('restart when a dry run ends, watchers too, because they enqueue what stays pending less and less often', async () => {
    const templates = async (dryRun: boolean): Promise<unknown[]> => {
      const manifests = await manifestsWith({ reloader: { dryRun } });
      return ['watcher', 'worker', 'admin'].map((name) =>
        JSON.stringify(at(workload(manifests, name).object, 'spec.template')),
      );
    };
    const [dry, real] = [await templates(true), await templates(false)];
    expect(dry.map((template, index) => template !== real[index])).toEqual([true, true, false]);
  });

  it.each([
    [{ periodSeconds: 20 }, ['httpGet']],
    [{ exec: { command: ['true'] } }, ['exec']],
    [{ tcpSocket: { port: 'http' } }, ['tcpSocket']],
    [{ grpc: { port: 1 } }, ['grpc']],
  ])('have probes of one kind: %j', async (probe, kinds) => {
    const deployment = { livenessProbe: probe, readinessProbe: probe };
    const { container } = workload(await manifestsWith({ reloader: { deployment } }), 'worker');
    for (const name of ['livenessProbe', 'readinessProbe']) {
      const given = at(container, name) as Readonly<Record<string, unknown>>;
      expect(given).toMatchObject(probe);
      expect(Object.keys(given).filter((key) => /^(exec|grpc|httpGet|tcpSocket)$/u.test(key))).toEqual(kinds);
    }
  });

  it('extraArgs and extraEnv come last, and a variable that is given twice is there once', async () => {
    const watcher = { extraArgs: ['--lease-duration=20s'], extraEnv: [{ name: 'POD_NAME', value: 'mine' }] };
    const { args, env } = workload(await manifestsWith({ watcher }), 'watcher');
    expect(args.at(-1)).toBe('--lease-duration=20s');
    expect(env.filter((each) => /^POD_NAME\b/u.test(each))).toEqual(['POD_NAME=mine']);
  });
});

/** The pod templates of the Job, and of the Deployment and the pod of `helm test`. */
async function briefPods(values: ChartValues): Promise<readonly unknown[]> {
  const manifests = await manifestsWith(values);
  const job = manifests.find(({ kind }) => kind === 'Job');
  const tested = find(manifests, 'Deployment', 'reroll-test');
  return [at(job, 'spec.template'), at(tested, 'spec.template'), find(manifests, 'Pod', 'reroll-test')];
}

describe('short-lived pods', () => {
  it.each([
    [{ reloader: { deployment: { resources: { limits: { cpu: '500m', memory: '1Gi' } } } } }, '500m'],
    [{ worker: { resources: { limits: { cpu: 1 } } } }, '1'],
    [{ mode: 'standalone', standalone: { resources: { limits: { cpu: '2' } } } }, '2'],
    [{}, undefined],
  ])('have a limit of CPU if workers have one: %j', async (values, cpu) => {
    for (const template of await briefPods(values))
      expect(at(template, 'spec.containers.0.resources.limits')).toEqual({
        memory: '128Mi',
        ...(cpu === undefined ? {} : { cpu }),
      });
  });

  it('have the classes, labels and node affinity of the others, and nothing that selects those', async () => {
    const nodeAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
      },
    };
    const deployment = {
      priorityClassName: 'p',
      runtimeClassName: 'r',
      labels: { team: 'a', 'app.kubernetes.io/component': 'worker' },
      affinity: { nodeAffinity, podAntiAffinity: {} },
      pod: { annotations: { 'linkerd.io/inject': 'enabled' } },
    };
    const templates = await briefPods({ reloader: { deployment } });
    const component = (template: unknown): unknown =>
      (at(template, 'metadata.labels') as Readonly<Record<string, string>>)['app.kubernetes.io/component'];
    expect(templates.map(component)).toEqual(['make-secrets', 'tested', 'test']);
    for (const template of templates) {
      expect(at(template, 'metadata.labels.team')).toBe('a');
      expect(at(template, 'metadata.annotations') ?? {}).not.toMatchObject({
        'linkerd.io/inject': 'enabled',
      });
      expect(at(template, 'spec')).toMatchObject({ priorityClassName: 'p', runtimeClassName: 'r' });
      expect(at(template, 'spec.affinity')).toEqual({ nodeAffinity });
    }
  });
});

it.each([
  [false, undefined, true],
  [false, 'apps.openshift.io/v1', true],
  [false, 'security.openshift.io/v1', false],
  ['auto', undefined, true],
  ['auto', 'apps.openshift.io/v1', true],
  ['auto', 'security.openshift.io/v1', false],
  [true, undefined, false],
])(
  'isOpenshift: %s where the API server has %s: our ids of users: %s',
  async (isOpenshift, api, expected) => {
    const manifests = await manifestsWith({ reloader: { isOpenshift } }, api === undefined ? {} : { api });
    const contexts = manifests
      .filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job', 'Pod'].includes(kind))
      .map((each) =>
        at(each, each.kind === 'Pod' ? 'spec.securityContext' : 'spec.template.spec.securityContext'),
      );
    expect(contexts).toHaveLength(7);
    for (const context of contexts)
      for (const id of ['runAsUser', 'runAsGroup', 'fsGroup'])
        expect(at(context, id) !== undefined).toBe(expected);
  },
);

it('helm test exists where a rollout can be seen, and only as a hook', async () => {
  const tests = async (values: object): Promise<readonly Manifest[]> =>
    (await manifestsWith(values as Record<string, unknown>)).filter(
      ({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'test',
    );
  const hooks = await tests({});
  expect(hooks.map(({ kind }) => kind).sort()).toEqual([
    'ConfigMap',
    'ConfigMap',
    'Deployment',
    'Pod',
    'Role',
    'RoleBinding',
    'ServiceAccount',
  ]);
  for (const { metadata } of hooks) expect(metadata.annotations?.['helm.sh/hook']).toBe('test');
  const unseen = [
    { dryRun: true },
    { webhookUrl: 'https://x' },
    { ignoreNamespaces: 'a,reroll' },
    { namespaceSelector: 'team=a' },
    { resourceLabelSelector: 'reload=yes' },
  ];
  for (const reloader of unseen) expect(await tests({ reloader })).toEqual([]);
  const labelled = { reloader: unseen.at(-1), tests: { sourceLabels: { reload: 'yes' } } };
  expect(at(find(await tests(labelled), 'ConfigMap', 'reroll-test'), 'metadata.labels.reload')).toBe('yes');
  const secrets = await tests({ reloader: { ignoreConfigMaps: true } });
  expect(at(find(secrets, 'Role', 'reroll-test'), 'rules.0.resources')).toEqual(['secrets']);
  expect(find(secrets, 'Secret', 'reroll-test')).toBeDefined();
});

it('no hold of the installation keeps what helm test changes', async () => {
  const manifests = await manifestsWith({
    reloader: { requireApproval: true, reloadWindow: 'Sun 03:00-04:00' },
  });
  const annotations = find(manifests, 'Deployment', 'reroll-test').metadata.annotations ?? {};
  expect(readApproval(annotations[APPROVAL_ANNOTATION] ?? 'required')).toEqual({ isRequired: false });
  expect(readWindows(annotations[WINDOW_ANNOTATION] ?? '')).toEqual({ state: 'always' });
});
