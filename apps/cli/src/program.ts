import { VERSION } from '@reroll/shared/platform/version';
import { Command, Option } from 'commander';
import { addAudit } from './commands/audit.ts';
import { addChange } from './commands/change.ts';
import { addChanges } from './commands/changes.ts';
import type { Host } from './commands/command.ts';
import { addCompletion } from './commands/completion.ts';
import { addLimits } from './commands/limits.ts';
import { addPreview } from './commands/preview.ts';
import { addJobs, addPauseAndResume, addQueues, addRetry } from './commands/queues.ts';
import { addReload } from './commands/reload.ts';
import { addSources } from './commands/sources.ts';
import { addStatus } from './commands/status.ts';
import { addVersion } from './commands/version.ts';
import { addWhyNot } from './commands/why-not.ts';
import { addWhy } from './commands/why.ts';
import { addWorkloads } from './commands/workloads.ts';
import { VIAS } from './connect/globals.ts';

/** In the order of the help. */
const COMMANDS = [
  addStatus,
  addChanges,
  addChange,
  addWorkloads,
  addSources,
  addWhy,
  addWhyNot,
  addPreview,
  addReload,
  addRetry,
  addPauseAndResume,
  addLimits,
  addQueues,
  addJobs,
  addAudit,
  addCompletion,
  addVersion,
] as const;

const CLUSTER = 'The cluster, as kubectl has it:';
const ADMIN = 'The admin of Reroll:';

/** What every command takes. */
function globalOptions(): readonly (readonly [heading: string, option: Option])[] {
  return [
    [CLUSTER, new Option('-n, --namespace <name>', "in this namespace; default: the context's")],
    [CLUSTER, new Option('-A, --all-namespaces', 'lists of all namespaces')],
    [CLUSTER, new Option('--kubeconfig <file>', 'another one than KUBECONFIG, or ~/.kube/config')],
    [CLUSTER, new Option('--context <name>', 'a context of the kubeconfig')],
    [CLUSTER, new Option('--cluster <name>', 'a cluster of the kubeconfig')],
    [CLUSTER, new Option('--user <name>', 'a user of the kubeconfig')],
    [CLUSTER, new Option('--token <token>', 'a bearer token, for the API server and for the admin')],
    [
      CLUSTER,
      new Option('--as <user>', 'impersonate a user; the admin can be asked as a service account only'),
    ],
    [CLUSTER, new Option('--request-timeout <duration>', 'of each request; 0: none').default('30s')],
    [ADMIN, new Option('--server <url>', 'where it is, instead of looking for it (REROLL_SERVER)')],
    [ADMIN, new Option('--certificate-authority <file>', 'that signed the certificate of --server')],
    [
      ADMIN,
      new Option(
        '--admin-namespace <name>',
        'where it is (REROLL_ADMIN_NAMESPACE); default: reroll. It is given your token',
      ),
    ],
    [
      ADMIN,
      new Option(
        '--admin-service <name>',
        'its Service, for whoever may not list them (REROLL_ADMIN_SERVICE)',
      ),
    ],
    [
      ADMIN,
      new Option('--via <way>', "the API server's proxy, a port-forward, or the first that works")
        .choices(VIAS)
        .default('auto'),
    ],
    [
      ADMIN,
      new Option(
        '--service-account <name>',
        'ask as this service account, by a token of ten minutes; [namespace/]name',
      ),
    ],
  ];
}

/**
 * The whole command line. `name` is what the person types (`reroll`, `kubectl reroll`). Throws commander's
 * `CommanderError` where it would end the process.
 */
export function buildProgram(name: string, host: Host): Command {
  const program = new Command(name)
    .description(
      'Shows and steers Reroll, which restarts workloads when a ConfigMap or Secret that they use changes.',
    )
    .usage('<command> [options]')
    .version(VERSION, '--version', 'prints the version of this program')
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
