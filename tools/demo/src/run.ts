import { ClusterError, messageOf } from '../../cluster/src/errors.ts';
import { USAGE, parseArguments } from './arguments.ts';
import { play } from './demo.ts';
import { showSummary } from './show.ts';
import { openStage, type Stage } from './stage.ts';
import { Terminal } from './terminal.ts';

/** 1 if anything expected did not happen, 2 for bad arguments, 130 when interrupted. */
export type ExitCode = 0 | 1 | 2 | 130;

/** The demo from its arguments to its end. Whatever happens, nothing is left behind but what is to be kept. */
export async function runDemo(argv: readonly string[], signal: AbortSignal): Promise<ExitCode> {
  const terminal = new Terminal();
  const given = parseArguments(argv);
  if (given.kind === 'help') terminal.line(USAGE);
  if (given.kind === 'wrong') process.stderr.write(`${given.problem}\n\n${USAGE}`);
  if (given.kind !== 'run') return given.kind === 'help' ? 0 : 2;
  try {
    return await onStage(terminal, { keep: given.keep, signal });
  } catch (error) {
    return report(error, terminal, signal);
  }
}

async function onStage(
  terminal: Terminal,
  options: { keep: boolean; signal: AbortSignal },
): Promise<ExitCode> {
  const title = 'Reroll: a changed ConfigMap or Secret reloads the workloads that use it';
  terminal.line();
  terminal.line(terminal.style('bold', title));
  terminal.line(
    'kube-apiserver, its controllers, etcd and Redis are real. Only the kubelets are played, by kwok:',
  );
  terminal.line('no container runs, but pods become Ready.');
  terminal.line();
  terminal.step('starting a control plane and a Redis');
  // Whoever looks around has all rights in the cluster anyway, so the admin asks for no token.
  const adminFlags = ['--auth=kubernetes', '--anonymous=read'];
  const stage = await openStage({ log: (line) => terminal.step(line), signal: options.signal, adminFlags });
  let admin: string | undefined;
  try {
    const result = await play(stage, terminal);
    showSummary(terminal, result);
    if (options.keep) admin = await stage.startAdmin();
    if (result.failures.length > 0) return 1;
    if (admin === undefined)
      terminal.line('  Next: look around with npm run demo -- --keep, or install: docs/guide/install.md');
    return 0;
  } finally {
    if (admin === undefined) await stage.close();
    else await leave(terminal, stage, admin);
  }
}

async function leave(terminal: Terminal, stage: Stage, admin: string): Promise<void> {
  const { cluster, logs, pids } = stage;
  await stage.leave();
  terminal.heading('Left running');
  terminal.line(`  Dashboard: ${admin}`);
  terminal.line(`  export KUBECONFIG=${cluster.kubeconfig} REROLL_SERVER=${admin}`);
  terminal.line('  kubectl -n shop get deploy,sts,ds,pods');
  terminal.line(`  kubectl -n shop patch configmap shop-settings -p '{"data":{"banner":"Hello"}}'`);
  terminal.line('  kubectl -n shop get events --field-selector reason=Reloaded');
  terminal.line(
    '  npx node apps/cli/dist/main.js why deploy/storefront -n shop   # the command line: docs/guide/cli.md',
  );
  terminal.line('  npx node apps/cli/dist/main.js changes -n shop');
  terminal.line(`  tail -f ${logs}/w*.log`);
  terminal.line('To stop all of it:');
  terminal.line(`  kill ${pids.join(' ')}; npm run -s cluster -- stop --dir ${cluster.dir}`);
}

function report(error: unknown, terminal: Terminal, signal: AbortSignal): ExitCode {
  if (signal.aborted) {
    terminal.step('interrupted: everything that was started is stopped');
    return 130;
  }
  // Anything but a ClusterError is a fault of the demo: show where.
  const stack = error instanceof Error && !(error instanceof ClusterError) ? error.stack : undefined;
  process.stderr.write(`${stack ?? messageOf(error)}\n`);
  return 1;
}
