import { LIMIT_BOUNDS, type Limits } from '@reroll/shared/api/queues';
import { numberArgument } from '../args/values.ts';
import { usageError } from '../errors.ts';
import { paintFor } from '../output/color.ts';
import { printDocument } from '../output/print.ts';
import { facts } from '../output/table.ts';
import { limitText } from '../views/status.ts';
import { oneOutput, running, type Adder } from './command.ts';

interface LimitsOptions {
  readonly concurrency?: string;
  readonly reloadsPerMinute?: string;
  readonly reason?: string;
}

const FLAG = "as the workers' flag says";
/** Removes a limit, so that the flag's value applies again. */
const UNSET = 'default';

export const addLimits: Adder = (program, host) => {
  program
    .command('limits')
    .summary('shows or sets runtime limits')
    .description(
      `Shows the runtime limits of the installation, or sets them for all its workers. \`${UNSET}\` removes one, so that the worker's flag applies. --namespace has no effect.`,
    )
    .option('--concurrency <number>', `jobs that one worker handles at the same time, per queue, or ${UNSET}`)
    .option(
      '--reloads-per-minute <number>',
      `reloads per minute, for all workers together; 0: no limit; or ${UNSET}`,
    )
    .option('--reason <text>', 'reason; required to set a limit')
    .addOption(oneOutput())
    .action(
      running<LimitsOptions>(host, async ({ session, io, options }) => {
        const wanted = wantedLimits(options);
        const api = await session.admin();
        const limits =
          wanted === undefined
            ? await api.call('getLimits')
            : await api.call('setLimits', { body: { ...wanted.limits, reason: wanted.reason } });
        if (printDocument(io, options.output, limits)) return;
        io.out(
          facts(
            [
              ['Concurrency', limitText(limits.concurrency, FLAG)],
              ['Reloads per minute', limitText(limits.reloadsPerMinute, FLAG)],
            ],
            paintFor(io, io.outIsTerminal),
          ),
        );
      }),
    );
};

function wantedLimits(
  options: LimitsOptions,
): { readonly limits: Partial<Limits>; readonly reason: string } | undefined {
  const { concurrency, reloadsPerMinute, reason } = options;
  if (concurrency === undefined && reloadsPerMinute === undefined) return undefined;
  if (reason === undefined) throw usageError('expected --reason with a limit that is set');
  return {
    reason,
    limits: {
      ...(concurrency === undefined
        ? {}
        : { concurrency: limitOf('--concurrency', concurrency, LIMIT_BOUNDS.concurrency) }),
      ...(reloadsPerMinute === undefined
        ? {}
        : {
            reloadsPerMinute: limitOf(
              '--reloads-per-minute',
              reloadsPerMinute,
              LIMIT_BOUNDS.reloadsPerMinute,
            ),
          }),
    },
  };
}

function limitOf(flag: string, text: string, range: { least: number; most: number }): number | null {
  return text === UNSET ? null : numberArgument(flag, text, { ...range, or: UNSET });
}
