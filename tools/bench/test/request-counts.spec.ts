import { expect, it } from 'vitest';
import { countsOf, reloaderRequests, requestFigures, subtract } from '../src/measure/request-counts.ts';

const METRICS = `# HELP apiserver_request_total [STABLE] Counter of apiserver requests
# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",resource="deployments",subresource="",verb="PATCH"} 7
apiserver_request_total{code="422",component="apiserver",resource="deployments",subresource="",verb="PATCH"} 1
apiserver_request_total{code="200",component="apiserver",resource="deployments",subresource="status",verb="PUT"} 3
apiserver_request_total{code="200",component="apiserver",resource="",subresource="/readyz",verb="GET"} 9
apiserver_request_total{code="201",component="apiserver",resource="events",subresource="",verb="POST"} 1e+03
apiserver_request_duration_seconds_count{resource="deployments",verb="PATCH"} 8
`;

it("reads kube-apiserver's metrics, over all codes, in Kubernetes' verbs", () => {
  expect(Object.fromEntries(countsOf(METRICS))).toEqual({
    'patch deployments': 8,
    'update deployments/status': 3,
    'create events': 1000,
  });
});

it('subtracts pair by pair, and never below nothing', () => {
  const later = new Map([
    ['get pods', 5],
    ['list pods', 1],
    ['get nodes', 2],
  ]);
  const earlier = new Map([
    ['get pods', 3],
    ['get nodes', 4],
  ]);
  expect(subtract(later, earlier)).toEqual(
    new Map([
      ['get pods', 2],
      ['list pods', 1],
    ]),
  );
});

const ALL = new Map([
  ['get configmaps', 100],
  ['patch deployments', 200],
  ['update deployments', 110],
  ['update deployments/status', 250],
  ['create replicasets', 100],
  ['create events', 150],
  ['update leases', 12],
  ['watch pods', 1],
  ['list services', 1],
  ['list deployments', 5],
]);
/** The bench wrote 100 workloads of its own; controllers reacted to 100 rollouts. */
const OTHERS = {
  own: new Map([['patch deployments', 100]]),
  reaction: new Map([
    ['update deployments', 100],
    ['update deployments/status', 190],
    ['create replicasets', 100],
    ['create events', 50],
  ]),
};

it("leaves of all requests the reloader's: not ours, not the controllers', not those by the clock", () => {
  expect(Object.fromEntries(reloaderRequests(ALL, OTHERS))).toEqual({
    'get configmaps': 100,
    'patch deployments': 100,
    'create events': 100,
    'list deployments': 5,
  });
});

it('counts requests and Events for a reloaded workload, and LISTs', () => {
  expect(requestFigures(reloaderRequests(ALL, OTHERS), 100)).toEqual({
    requestsPerRolled: 2.05,
    eventsPerRolled: 1,
    lists: 5,
  });
});
