export type Scanner = 'checkov' | 'kube-score';

export interface Accepted {
  readonly scanner: Scanner;
  /** As the scanner names it. */
  readonly rule: string;
  /** `<kind> <name>` of each object of the chart that it finds, with the values of the chart. */
  readonly on: readonly string[];
  readonly because: string;
}

const COMPONENTS = ['Deployment reroll-watcher', 'Deployment reroll-worker', 'Deployment reroll-admin'];
const TESTS = ['Deployment reroll-test', 'Pod reroll-test'];
const MAKE_SECRETS = 'Job reroll-make-secrets';
const REDIS = 'StatefulSet reroll-redis';
/** Of `helm test` it finds the Deployment by its pods. */
const PODS = ['watcher', 'worker', 'admin', 'make-secrets', 'test'].map((name) => `Pod reroll-${name}`);

const NO_CPU_LIMIT =
  'A limit of CPU throttles a process while its node is idle: requests are set, and memory is limited.';
const PULL_POLICY =
  'Tags are versions that never move. A node that has an image starts a pod while the registry is away.';
const NETWORK_POLICY =
  'Which addresses DNS and the API server have is for the installer to know: networkPolicy.enabled. Redis has a policy by default.';
const LOW_USER = 'It is the user and group that the images of Redis and Valkey are made for.';

/** What the scanners find in the chart and stays as it is. */
export const ACCEPTED: readonly Accepted[] = [
  {
    scanner: 'checkov',
    rule: 'CKV_K8S_11',
    on: [...COMPONENTS, ...TESTS, MAKE_SECRETS, REDIS],
    because: NO_CPU_LIMIT,
  },
  {
    scanner: 'checkov',
    rule: 'CKV_K8S_15',
    on: [...COMPONENTS, ...TESTS, MAKE_SECRETS, REDIS],
    because: PULL_POLICY,
  },
  {
    scanner: 'checkov',
    rule: 'CKV_K8S_43',
    on: [...COMPONENTS, ...TESTS, MAKE_SECRETS, REDIS],
    because: 'A digest is of one build: image.digest is for the installer, who may mirror images.',
  },
  {
    scanner: 'checkov',
    rule: 'CKV_K8S_38',
    on: [...COMPONENTS, MAKE_SECRETS, 'Pod reroll-test'],
    because: 'They call the API server. Redis does not, and has no token.',
  },
  {
    scanner: 'checkov',
    rule: 'CKV_K8S_8',
    on: TESTS,
    because: 'They live for the seconds of a `helm test`, which has a deadline.',
  },
  {
    scanner: 'checkov',
    rule: 'CKV_K8S_9',
    on: TESTS,
    because: 'Nothing is sent to them: `helm test` waits for their rollout and end.',
  },
  { scanner: 'checkov', rule: 'CKV_K8S_40', on: [REDIS], because: LOW_USER },
  { scanner: 'checkov', rule: 'CKV2_K8S_6', on: PODS, because: NETWORK_POLICY },
  {
    scanner: 'kube-score',
    rule: 'pod-networkpolicy',
    on: [...COMPONENTS, ...TESTS, MAKE_SECRETS],
    because: NETWORK_POLICY,
  },
  {
    scanner: 'kube-score',
    rule: 'container-resources',
    on: [...COMPONENTS, ...TESTS, MAKE_SECRETS, REDIS],
    because: NO_CPU_LIMIT,
  },
  {
    scanner: 'kube-score',
    rule: 'container-image-pull-policy',
    on: [...COMPONENTS, ...TESTS, MAKE_SECRETS, REDIS],
    because: PULL_POLICY,
  },
  {
    scanner: 'kube-score',
    rule: 'container-ephemeral-storage-request-and-limit',
    on: [...COMPONENTS, ...TESTS, MAKE_SECRETS, REDIS],
    because:
      'Root filesystems are read-only, so only logs are written. Without a volume Redis writes its file, which maxMemory bounds.',
  },
  {
    scanner: 'kube-score',
    rule: 'container-security-context-user-group-id',
    on: [REDIS],
    because: LOW_USER,
  },
  {
    scanner: 'kube-score',
    rule: 'deployment-has-host-podantiaffinity',
    on: ['Deployment reroll-watcher', 'Deployment reroll-worker'],
    because:
      'A topologySpreadConstraint spreads them over nodes, and lets them start where there is one node.',
  },
  {
    scanner: 'kube-score',
    rule: 'deployment-replicas',
    on: ['Deployment reroll-admin'],
    because: 'Nothing waits for admin: while it is replaced, the API is away and reloads go on.',
  },
  {
    scanner: 'kube-score',
    rule: 'statefulset-has-servicename',
    on: [REDIS],
    because:
      'It asks for a headless Service. There is one replica, which clients reach by an address that stays.',
  },
];
