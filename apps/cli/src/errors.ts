export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notInTime: 3,
  notRolled: 4,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Descriptions for the reference. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: 'Done, also if the answer to a question is no.',
  failed: 'Refused, not found, or not reachable. `wait`: not converged within `--timeout`.',
  usage: 'Invalid arguments: standard error says what was expected and given. Nothing was sent.',
  notInTime: '`reload --wait`, `change --watch`: not rolled out within `--timeout`. It may be later.',
  notRolled:
    '`reload --wait`: it will not be rolled out, because it is stuck, has failed, or there was nothing to do. `change --watch`: a workload is stuck or has failed.',
  interrupted: 'Interrupted by Ctrl-C.',
};

interface CliErrorOptions {
  readonly exit?: ExitCode;
  readonly hints?: readonly string[];
  readonly status?: number | 'network';
}

/** An error that the user sees as one `error:` line. The message is a sentence without a full stop. */
export class CliError extends Error {
  readonly exit: ExitCode;
  /** Hints, one a line. */
  readonly hints: readonly string[];
  /** The HTTP status that caused it, `'network'` without a response; undefined for other causes. */
  readonly status: number | 'network' | undefined;

  constructor(message: string, options: CliErrorOptions = {}) {
    super(message);
    this.name = 'CliError';
    this.exit = options.exit ?? EXIT.failed;
    this.hints = options.hints ?? [];
    this.status = options.status;
  }
}

export function usageError(message: string, ...hints: readonly string[]): CliError {
  return new CliError(message, { exit: EXIT.usage, hints });
}
