import { SCENARIO_NAMES, SCENARIOS } from '../scenarios.ts';
import { titleOf } from '../report/title.ts';

const OPTIONS = `usage: npm run bench -- [options]

Measures Reroll (or another reloader) on a control plane of its own: a real etcd, kube-apiserver,
kube-controller-manager, kube-scheduler and Redis, started for it and removed afterwards.

what is measured
  --scenario NAME,…      one or more of those below, or all (default hundred)
  --workloads N          workloads, over all namespaces  \\  instead of the scenario's
  --namespaces K         namespaces                       | own numbers; its targets
  --changes M            sources that change, once each  /  are then not shown
  --repeat N             runs of the changes on the same processes; tables show the median (default 1)
  --reloader 'COMMAND'   another reloader than Reroll, one process, with KUBECONFIG in its environment

results
  --json FILE            everything that was measured
  --markdown FILE        writes the tables into a page, between its markers <!-- bench begin: … -->
  --help

A table goes to standard output, progress to standard error. Exit code 0 when every target that is shown
was met, 1 when one was not or something failed, 2 for bad arguments, 130 when interrupted.

scenarios
`;

const ALONE = `  history      10,000 changes of history and 100,000 workloads: lists of an admin (alone, with --changes, --workloads,
               --namespaces, --requests and --markdown only)
  redis-memory bytes of Redis for each source, workload, dependency and job, against the formula of docs/scaling.md (alone,
               with --sizes N,… and --markdown only)
  pods         memory of real pods in both modes of the chart, as the kubelet counts it (alone, with --workloads and --markdown
               only; as root)
  limits       whether the chart's limits of memory hold: real pods with 10,000 workloads, an admin with 100,000 (alone, with
               --workloads and --markdown only; as root)
  sizes        one change at a time in clusters of 200, 2,000 and 20,000 workloads (alone, with --sizes N,…, --repeat, --markdown
               and --svg only)
  workers      changes at once with 1, 2 and 4 workers, the API server 20 ms away (alone, as sizes)
  state        a watcher's cluster state with 100,000 workloads and as many sources: memory, lists, events (alone, with
               --size N and --markdown only)
  hostile      one tenant does its worst, in several ways, while another one's changes go through (alone, with
               --attack and --markdown only)
`;

export function usage(): string {
  const lines = SCENARIO_NAMES.map((name) => `  ${name.padEnd(12)} ${titleOf(SCENARIOS[name])}\n`);
  return OPTIONS + lines.join('') + ALONE;
}
