/** Something the machine or the cluster did not do: the message says what was expected and what happened. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
}

/** Arguments that make no sense: nothing was started. `problems` has one sentence each. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
