import { SCENARIO_NAMES, SCENARIOS } from '../scenarios.ts';
import { titleOf } from '../report/title.ts';

const OPTIONS = `usage: npm run bench -- [options]

Measures Reroll (or another reloader) on a control plane of its own: a real etcd, kube-apiserver,
kube-controller-manager, kube-scheduler and Redis, started for it and removed afterwards.

what is measured
  --scenario NAME,…      one or more of those below, or all (default hundred)
  --workloads N          workloads, over all namespaces           \\
  --namespaces K         namespaces                                | instead of the scenario's
  --sharing S            workloads that use one source             | own numbers; its targets
  --changes M            sources that change, once each            | are then not shown
  --rate R               changes a second, not all at once         |
  --secrets COUNTxSIZE   Secrets beside them, such as 3000x50KB   /
  --kind KIND            Deployment (default), StatefulSet or DaemonSet
  --replicas 0|1         of each workload (default 0: no pods, so that only patches are measured)
  --controller-manager on|off   whether controllers react to the rollouts (default on, except in large)
  --repeat N             runs of the changes on the same processes; tables show the median (default 1)

who is measured
  --watchers N           processes (default 1)
  --workers N            processes (default 2)
  --concurrency N        jobs at a time in one worker (default 10); the floor uses workers x concurrency
  --debounce T           such as 500ms (default 0)
  --reloader 'COMMAND'   another reloader instead, one process, with KUBECONFIG in its environment

results
  --json FILE            everything that was measured
  --markdown FILE        writes the tables into a page, between its markers <!-- bench begin: … -->
  --keep                 leaves the last cluster and the reloader running, and says where
  --help

A table goes to standard output, progress to standard error. Exit code 0 when every target that is shown
was met, 1 when one was not or something failed, 2 for bad arguments, 130 when interrupted.

scenarios
`;

const ALONE = `  history      10,000 changes of history and 100,000 workloads: lists of an admin (alone, with --changes, --workloads,
               --namespaces, --requests and --markdown only)
  redis-memory bytes of Redis for each source, workload, dependency and job, against the formula of docs/scaling.md (alone,
               with --sizes N,… and --markdown only)
  hostile      one tenant does its worst, in several ways, while another one's changes go through (alone, with
               --attack and --markdown only)
`;

export function usage(): string {
  const lines = SCENARIO_NAMES.map((name) => `  ${name.padEnd(12)} ${titleOf(SCENARIOS[name])}\n`);
  return OPTIONS + lines.join('') + ALONE;
}
