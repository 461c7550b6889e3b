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

/** All requests to resources that kube-apiserver has finished since it started, from the lines of its metrics. */
export function countsOf(metrics: string): RequestCounts {
  const counts = new Map<string, number>();
  for (const line of metrics.split('\n')) {
    const [, labelText = '', value = ''] = SAMPLE.exec(line) ?? [];
    const labels = Object.fromEntries([...labelText.matchAll(/(\w+)="([^"]*)"/g)].map(([, k, v]) => [k, v]));
    const { verb = '', resource = '', subresource = '' } = labels;
    if (resource === '') continue;
    const pair = pairOf(VERBS[verb] ?? verb.toLowerCase(), resource, subresource);
    counts.set(pair, (counts.get(pair) ?? 0) + Number(value));
  }
  return counts;
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

/** What goes on by the clock in every cluster, whatever is rolled; watches are counted when they end. */
const BY_THE_CLOCK = /^(watch |\w+ (leases|nodes|nodes\/status)$)/;

/** Half a request in a hundred is noise of the subtraction. */
const NOISE = 0.5;

/**
 * The part of the requests that the reloader sent: all of them without the bench's own, without what the
 * control plane does by itself for each rolled workload (as the floor showed), and without what goes by
 * the clock.
 */
export function reloaderRequests(all: RequestCounts, others: readonly RequestCounts[]): RequestCounts {
  const rest = others.reduce(subtract, all);
  return new Map([...rest].filter(([pair, count]) => count >= NOISE && !BY_THE_CLOCK.test(pair)));
}

export interface RequestFigures {
  readonly requestsPerRolled: number;
  readonly eventsPerRolled: number;
  readonly lists: number;
}

export function requestFigures(requests: RequestCounts, rolled: number): RequestFigures {
  const total = (test: (pair: string) => boolean): number =>
    [...requests].filter(([pair]) => test(pair)).reduce((amount, [, count]) => amount + count, 0);
  const isEvent = (pair: string): boolean => pair.endsWith(' events');
  return {
    requestsPerRolled: total((pair) => !isEvent(pair)) / rolled,
    eventsPerRolled: total(isEvent) / rolled,
    lists: total((pair) => pair.startsWith('list ')),
  };
}
