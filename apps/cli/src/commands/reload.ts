import { workloadRef } from '../args/object-ref.ts';
import { durationArgument } from '../args/values.ts';
import { usageError, type ExitCode } from '../errors.ts';
import { printDocument } from '../output/print.ts';
import { safeText } from '../output/safe-text.ts';
import { fullName } from '../views/names.ts';
import { oneOutput, reasonOption, running, type Adder, type Call } from './command.ts';
import { followChange } from './follow-change.ts';

interface ReloadOptions {
  readonly reason: string;
  readonly now?: boolean;
  readonly overrideFreeze?: boolean;
  readonly wait?: boolean;
  readonly timeout?: string;
}

const TIMEOUT = '5m';

export const addReload: Adder = (program, host) => {
  program
    .command('reload')
    .argument('<workload>', 'e.g. deploy/web')
    .argument('[name]', 'its name, unless given with the kind')
    .summary('reloads a workload now, if its annotations opt in')
    .description(
      'Reloads a workload now, if its annotations opt in, and prints the id of the change. --wait shows the progress, and exits with 0 when the workload is rolled out, 3 after --timeout, or 4 if it will not be rolled out.',
    )
    .addOption(reasonOption())
    .option('--now', 'bypass its window, waves, reload limit and the limit of rollouts at once')
    .option('--override-freeze', 'even if it is frozen; this needs a right of its own')
    .option('--wait', 'wait until it is rolled out')
    .option('--timeout <duration>', `maximum time of --wait; 0: no limit; default: ${TIMEOUT}`)
    .addOption(oneOutput())
    .action(running<ReloadOptions>(host, runReload));
};

async function runReload({ session, io, words, options }: Call<ReloadOptions>): Promise<ExitCode | void> {
  const workload = workloadRef(words, session.namespaceOfObject);
  const timeoutMs = durationArgument('--timeout', options.timeout ?? TIMEOUT);
  if (options.wait !== true && options.timeout !== undefined)
    throw usageError('expected --wait with --timeout');
  const api = await session.admin();
  const { reason, now = false, overrideFreeze = false } = options;
  const body = { reason, ...(now ? { now } : {}), ...(overrideFreeze ? { overrideFreeze } : {}) };
  const input = { params: workload, body };
  const accepted = await api.call('reloadWorkload', input);
  if (!printDocument(io, options.output, accepted)) {
    io.out(`${fullName(workload)} reload requested (change ${safeText(accepted.id)})\n`);
    io.out(heldText(accepted.held));
  }
  if (options.wait !== true) return;
  return followChange(session, { change: accepted.id, workload, timeoutMs });
}

/** By its reason, the flag that bypasses a hold. Nothing bypasses an approval. */
const BYPASSES: Readonly<Record<string, string>> = {
  Frozen: '--override-freeze',
  OutsideWindow: '--now',
  TooOften: '--now',
};

function heldText(held: { readonly reason: string; readonly detail: string } | undefined): string {
  if (held === undefined) return '';
  const flag = BYPASSES[held.reason];
  const hint = flag === undefined ? '' : ` To bypass this, use ${flag}.`;
  return `It waits (${held.reason}): ${safeText(held.detail)}.${hint}\n`;
}
