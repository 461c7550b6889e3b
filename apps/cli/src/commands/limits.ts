import type { Limits } from '@reroll/shared/api/queues';
import { numberArgument } from '../args/values.ts';
import { usageError } from '../errors.ts';
import { paintFor } from '../output/colour.ts';
import { printDocument } from '../output/print.ts';
import { facts } from '../output/table.ts';
import { oneOutput, running, type Adder } from './command.ts';

interface LimitsOptions {
  readonly concurrency?: string;
  readonly reloadsPerMinute?: string;
  readonly reason?: string;
}

/** Removes a limit, so that the flag's value applies again. */
const UNSET = 'default';

export const addLimits: Adder = (program, host) => {
  program
    .command('limits')
    .summary('limits that were set at run time; sets them')
    .description(
      `Shows the limits that were set at run time, or sets them for every worker. \`${UNSET}\` takes one away, so that the workers' own flag counts again.`,
    )
    .option('--concurrency <number>', `jobs of a queue that one worker handles at the same time, or ${UNSET}`)
    .option('--reloads-per-minute <number>', `reloads of all workers in a minute, or ${UNSET}`)
    .option('--reason <text>', 'why; needed to set something')
    .addOption(oneOutput())
    .action(
      running<LimitsOptions>(host, async ({ session, io, options }) => {
        const wanted = wantedLimits(options);
        const api = await session.admin();
        const present = await api.call('getLimits');
        const limits =
          wanted === undefined
            ? present
            : await api.call('setLimits', {
                body: { ...bare(present), ...wanted.limits, reason: wanted.reason },
              });
        if (printDocument(io, options.output, limits)) return;
        io.out(
          facts(
            [
              ['Concurrency', limitText(limits.concurrency)],
              ['Reloads per minute', limitText(limits.reloadsPerMinute)],
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
      ...(concurrency === undefined ? {} : { concurrency: limitOf('--concurrency', concurrency, 1_000) }),
      ...(reloadsPerMinute === undefined
        ? {}
        : { reloadsPerMinute: limitOf('--reloads-per-minute', reloadsPerMinute, 1_000_000) }),
    },
  };
}

function limitOf(flag: string, text: string, most: number): number | null {
  return text === UNSET ? null : numberArgument(flag, text, { least: 1, most });
}

/** Drops unknown fields of a newer server. */
function bare({ concurrency, reloadsPerMinute }: Limits): Limits {
  return { concurrency, reloadsPerMinute };
}

function limitText(limit: number | null): string {
  return limit === null ? "as the workers' flag says" : String(limit);
}
