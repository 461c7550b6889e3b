import { VERSION } from '@reroll/shared/platform/process/version';
import { Command, Option } from 'commander';
import { addApprove } from './commands/approve.ts';
import { addAudit } from './commands/audit.ts';
import { addBulk } from './commands/bulk.ts';
import { addChange } from './commands/change.ts';
import { addChanges } from './commands/changes.ts';
import type { Host } from './commands/command.ts';
import { addCompletion } from './commands/completion.ts';
import { addFreeze, addUnfreeze } from './commands/freeze.ts';
import { addLimits } from './commands/limits.ts';
import { addPreview } from './commands/preview.ts';
import { addJobs, addPauseAndResume, addQueues, addRetry } from './commands/queues.ts';
import { addReload } from './commands/reload.ts';
import { addSources } from './commands/sources.ts';
import { addStale } from './commands/stale.ts';
import { addStatus } from './commands/status.ts';
import { addVersion } from './commands/version.ts';
import { addWait } from './commands/wait.ts';
import { addWhyNot } from './commands/why-not.ts';
import { addWhy } from './commands/why.ts';
import { addWorkloads } from './commands/workloads.ts';
import { VIAS } from './connect/globals.ts';

/** In the order of the help text. */
const COMMANDS = [
  addStatus,
  addChanges,
  addChange,
  addWorkloads,
  addSources,
  addWhy,
  addWhyNot,
  addPreview,
  addStale,
  addWait,
  addReload,
  addFreeze,
  addUnfreeze,
  addApprove,
  addRetry,
  addBulk,
  addPauseAndResume,
  addLimits,
  addQueues,
  addJobs,
  addAudit,
  addCompletion,
  addVersion,
] as const;

const CLUSTER = 'Cluster, as in kubectl:';
const ADMIN = 'Admin of Reroll:';

/** The options of every command, with their heading in the help. */
function globalOptions(): readonly (readonly [heading: string, option: Option])[] {
  return [
    ...clusterOptions().map((option) => [CLUSTER, option] as const),
    ...[...placeOptions(), ...callerOptions()].map((option) => [ADMIN, option] as const),
  ];
}

function clusterOptions(): readonly Option[] {
  return [
    new Option('-n, --namespace <name>', "namespace; default: the context's"),
    new Option('-A, --all-namespaces', 'list all namespaces'),
    new Option('--kubeconfig <file>', 'kubeconfig file; default: KUBECONFIG or ~/.kube/config'),
    new Option('--context <name>', 'context of the kubeconfig'),
    new Option('--cluster <name>', 'cluster of the kubeconfig'),
    new Option('--user <name>', 'user of the kubeconfig'),
    new Option('--token <token>', 'bearer token for the API server; with --server for the admin'),
    new Option('--as <user>', 'user to impersonate; for the admin, only a service account'),
    new Option('--request-timeout <duration>', 'timeout of each request; 0: none').default('30s'),
  ];
}

function placeOptions(): readonly Option[] {
  return [
    new Option('--server <url>', 'URL of the admin, instead of looking for it (REROLL_SERVER)'),
    new Option('--certificate-authority <file>', 'CA certificate for --server'),
    new Option(
      '--admin-namespace <name>',
      'namespace of the admin, which is sent your token; default: reroll (REROLL_ADMIN_NAMESPACE)',
    ),
    new Option(
      '--admin-service <name>',
      "the admin's Service, if you may not list Services (REROLL_ADMIN_SERVICE)",
    ),
    new Option(
      '--via <way>',
      "way to the admin: the API server's proxy, a port-forward, or the first that works",
    )
      .choices(VIAS)
      .default('auto'),
  ];
}

function callerOptions(): readonly Option[] {
  return [
    new Option(
      '--service-account <name>',
      'call the admin as this service account, with a token for ten minutes; [namespace/]name (REROLL_SERVICE_ACCOUNT)',
    ),
    new Option(
      '--audience <name>',
      "audience of that token: the admin's --api-audience; default: reroll (REROLL_AUDIENCE)",
    ),
    new Option(
      '--send-kubeconfig-token',
      'send the admin your token for the API server, with which it can act as you in the whole cluster; requires its --api-accept-api-server-tokens',
    ),
    new Option(
      '--allow-http',
      'send a token to another machine over plain HTTP, where whoever sees the traffic can read it (REROLL_ALLOW_HTTP=true)',
    ),
  ];
}

/**
 * The whole command line. `name` is what the user types (`reroll`, `kubectl reroll`). Throws commander's `CommanderError`
 * where it would end the process.
 */
export function buildProgram(name: string, host: Host): Command {
  const program = new Command(name)
    .description(
      'Shows and controls Reroll, which reloads workloads when a ConfigMap or Secret that they use changes.',
    )
    .usage('<command> [options]')
    .version(VERSION, '--version', 'print the version')
    .helpCommand(true)
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({ writeOut: host.io.out, writeErr: host.io.err, outputError: () => undefined })
    .exitOverride();
  for (const [heading, option] of globalOptions()) program.addOption(option.helpGroup(heading));
  for (const add of COMMANDS) add(program, host);
  for (const command of program.commands) {
    command.copyInheritedSettings(program).allowExcessArguments(false);
  }
  return program;
}
