import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import { AdminApi } from './admin-api.ts';
import {
  annotated,
  auto,
  configMap,
  deployment,
  secret,
  statefulSet,
  usingEnvFrom,
  usingVolume,
} from '../objects/builders.ts';
import {
  caller,
  LIST_DEPLOYMENTS,
  LIST_PODS,
  OPERATOR_RULES,
  PATCH_DEPLOYMENTS,
  VIEWER,
  type Rule,
} from './callers.ts';
import { AUDIENCE, ISSUER } from './service-account-tokens.ts';
import { sharedCluster } from '../cluster.ts';
import { presentEventId } from './event-reader.ts';
import { connect, namespace, type Space } from '../kube.ts';
import { refuseUpdates } from '../objects/policy.ts';
import { startReroll, type Reroll } from '../reroll.ts';
import { inStep } from '../objects/rollouts.ts';
import { eventually } from '../wait.ts';

/**
 * Who asks.
 * - `ours`, `theirs`: may do everything in their own namespace; `oursReader` may look, there.
 * - `reader` may look everywhere, `operator` may do everything.
 * - `nobody` is known to the cluster, and may nothing.
 */
export type Person = 'ours' | 'theirs' | 'oursReader' | 'reader' | 'operator' | 'nobody';

/**
 * One install with history, beside which an admin asks the API server who may what; two namespaces with objects of the
 * same names, in each a job that failed, a rollout that is paused, and a reload that its owner asked for.
 */
export interface Tenants {
  readonly cluster: Cluster;
  readonly reroll: Reroll;
  /** The ServiceAccounts of those who belong to neither. */
  readonly others: Space;
  readonly ours: Space;
  readonly theirs: Space;
  readonly tokens: Readonly<Record<Person, string>>;
  /** As `Last-Event-ID`: before everything that happened in the two namespaces. */
  readonly beginning: string;
  /** The API, as somebody uses it. */
  as(person: Person | { token: string | null }): AdminApi;
}

/** Of each tenant: the same names; `only` has something that the other one does not have. */
export async function startTenants(): Promise<Tenants> {
  const cluster = sharedCluster();
  const client = connect(cluster);
  const [others, ours, theirs] = await Promise.all([
    namespace(client, 'others'),
    namespace(client, 'ours'),
    namespace(client, 'theirs'),
  ]);
  const tokens = await peopleOf({ others, ours, theirs });
  await Promise.all([apply(ours, 'only-ours'), apply(theirs, 'only-theirs')]);
  const reroll = await startReroll({
    cluster,
    namespaces: [ours, theirs],
    admins: 1,
    flags: ['--attempts=2', '--backoff=50ms'],
    adminFlags: ['--auth=kubernetes', '--api-requests-per-minute-per-address=1000000'],
  });
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  const api = new AdminApi(admin);
  const as: Tenants['as'] = (who) => api.as(typeof who === 'string' ? tokens[who] : (who.token ?? undefined));
  const beginning = await presentEventId(as('operator'));
  await Promise.all([happen(reroll, ours, as('ours')), happen(reroll, theirs, as('theirs'))]);
  await eventually(async () => (await reroll.queues.reloads.getFailedCount()) === 2);
  const isThere = async (): Promise<boolean> =>
    (await as('operator').call('getStatus')).processes.some(({ app }) => app === 'worker');
  await eventually(isThere, { what: 'the worker to say that it is there' });
  return { cluster, reroll, others, ours, theirs, tokens, beginning, as };
}

const PATCH_ALL: Rule = { apiGroups: ['*'], resources: ['*'], verbs: ['patch'] };

/** Their tokens are good at the API server too, which is asked for pods with them. */
async function peopleOf(by: { others: Space; ours: Space; theirs: Space }): Promise<Record<Person, string>> {
  const { others, ours, theirs } = by;
  const sees: readonly Rule[] = [LIST_DEPLOYMENTS, LIST_PODS];
  const owner: readonly Rule[] = [...sees, PATCH_DEPLOYMENTS];
  const audiences = [AUDIENCE, ISSUER];
  const all = await Promise.all([
    caller(ours, 'owner', { cluster: OPERATOR_RULES, namespaced: owner, audiences }),
    caller(theirs, 'owner', { cluster: OPERATOR_RULES, namespaced: owner, audiences }),
    caller(ours, 'reader', { cluster: VIEWER, namespaced: sees, audiences }),
    caller(others, 'reader', { cluster: [...VIEWER, ...sees], audiences }),
    caller(others, 'operator', { cluster: [...OPERATOR_RULES, ...sees, PATCH_ALL], audiences }),
    caller(others, 'nobody', { audiences }),
  ]);
  const [own, their, oursReader, reader, operator, nobody] = all;
  return { ours: own, theirs: their, oursReader, reader, operator, nobody };
}

async function apply(space: Space, only: string): Promise<void> {
  const paused = annotated({ [KEYS.pausePeriod]: '1h' });
  await space.apply(
    configMap('cm', { v: '1' }),
    secret('keys', { password: `first of ${space.name}` }),
    secret(only, { password: `of ${only}` }),
    configMap('unused', { v: '1' }),
    deployment('web', auto(), usingEnvFrom('cm'), usingVolume('Secret/keys')),
    deployment('refused', auto(), usingEnvFrom('cm')),
    deployment('paused', auto(), paused, usingEnvFrom('cm')),
    deployment(only, auto(), usingEnvFrom(`Secret/${only}`)),
    statefulSet('db', auto(), usingEnvFrom('Secret/keys')),
  );
}

/** A change of each source, of which one reload fails for good; and a reload that the tenant asks for. */
async function happen(reroll: Reroll, space: Space, api: AdminApi): Promise<void> {
  await Promise.all([
    inStep(space, 'Deployment/web', ['ConfigMap/cm', 'Secret/keys']),
    inStep(space, 'Deployment/refused', ['ConfigMap/cm']),
    inStep(space, 'Deployment/paused', ['ConfigMap/cm']),
    inStep(space, 'StatefulSet/db', ['Secret/keys']),
  ]);
  const refusal = await refuseUpdates(space, { workloads: ['refused'], reason: 'Invalid' });
  await space.setData('ConfigMap/cm', { v: '2' });
  await space.setData('Secret/keys', { password: `second of ${space.name}` });
  await inStep(space, 'Deployment/web', ['ConfigMap/cm', 'Secret/keys']);
  await inStep(space, 'StatefulSet/db', ['Secret/keys']);
  await inStep(space, 'Deployment/paused', ['ConfigMap/cm']);
  await eventually(async () =>
    (await reroll.outcomes(space, 'Deployment/refused')).some(({ state }) => state === 'failed'),
  );
  const params = { kind: 'Deployment', namespace: space.name, name: 'web' } as const;
  await api.call('reloadWorkload', { params, body: { reason: `wanted by ${space.name}` } });
  await reroll.idle();
  await refusal.end();
}
