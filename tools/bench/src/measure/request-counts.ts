/** Requests by `<verb> <resource>`, e.g. `patch deployments`, with Kubernetes' verbs. */
export type RequestCounts = ReadonlyMap<string, number>;

/** The verb labels of kube-apiserver's metrics that differ from Kubernetes' verbs. */
const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  APPLY: 'patch',
  DELETECOLLECTION: 'deletecollection',
};

const SAMPLE = /^apiserver_request_total\{([^}]*)\} (\S+)$/;

/** All requests to resources that kube-apiserver has finished since it started, from the text of its metrics. */
export function countsOf(metrics: string): RequestCounts {
  const counts = new Map<string, number>();
  for (const line of metrics.split('\n')) {
    const [, labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    const pair = pairOfLabels(labels);
    if (pair !== undefined) counts.set(pair, (counts.get(pair) ?? 0) + Number(value));
  }
  return counts;
}

/** Undefined for a request to something else than a resource, such as `/readyz`. */
function pairOfLabels(text: string): string | undefined {
  const labels = new Map([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
  const [verb = '', resource = ''] = [labels.get('verb'), labels.get('resource')];
  return resource === '' ? undefined : pairOf(verbOf(verb), resource, labels.get('subresource'));
}

function verbOf(label: string): string {
  return VERBS[label] ?? label.toLowerCase();
}

export function pairOf(verb: string, resource: string, subresource = ''): string {
  return `${verb} ${subresource === '' ? resource : `${resource}/${subresource}`}`;
}

/** What came between two readings, pair by pair, never less than nothing. */
export function subtract(later: RequestCounts, earlier: RequestCounts): RequestCounts {
  const differences = [...later].map(
    ([pair, count]) => [pair, Math.max(0, count - (earlier.get(pair) ?? 0))] as const,
  );
  return new Map(differences.filter(([, count]) => count > 0));
}

export function scale(counts: RequestCounts, factor: number): RequestCounts {
  return new Map([...counts].map(([pair, count]) => [pair, count * factor]));
}

/**
 * What goes on by the clock in every cluster, whatever is rolled; watches are counted when they end. kube-apiserver
 * itself lists all Services every three minutes, as its audit log shows.
 */
const BY_THE_CLOCK = /^(watch |list services$|\w+ (leases|nodes|nodes\/status)$)/;

/** Written by controllers only. */
const CONTROLLERS = /(\/status| (replicasets|controllerrevisions|pods|endpoints|endpointslices))$/;

/** Less than one request is noise of the subtraction. */
const NOISE = 0.5;

/** Controllers repeat what met a conflict, so what they do varies: a rest up to this share of it is theirs. */
const VARIATION = 0.5;

export interface Others {
  /** Sent by the bench. */
  readonly own: RequestCounts;
  /** Sent by the control plane because of the rollouts, as far as the floor showed. */
  readonly reaction: RequestCounts;
}

/** The part of the requests that the reloader sent: all of them without others', and without what goes by the clock. */
export function reloaderRequests(all: RequestCounts, { own, reaction }: Others): RequestCounts {
  const rest = subtract(subtract(all, own), reaction);
  return new Map([...rest].filter(([pair, count]) => isReloaders(pair, count, reaction.get(pair) ?? 0)));
}

function isReloaders(pair: string, rest: number, reaction: number): boolean {
  if (rest < NOISE || BY_THE_CLOCK.test(pair) || CONTROLLERS.test(pair)) return false;
  return isEvent(pair) || rest > reaction * VARIATION;
}

function isEvent(pair: string): boolean {
  return pair.endsWith(' events');
}

export interface RequestFigures {
  readonly requestsPerRolled: number;
  readonly eventsPerRolled: number;
  readonly lists: number;
}

export function requestFigures(requests: RequestCounts, rolled: number): RequestFigures {
  const total = (test: (pair: string) => boolean): number =>
    [...requests].filter(([pair]) => test(pair)).reduce((amount, [, count]) => amount + count, 0);
  return {
    requestsPerRolled: total((pair) => !isEvent(pair)) / rolled,
    eventsPerRolled: total(isEvent) / rolled,
    lists: total((pair) => pair.startsWith('list ')),
  };
}
