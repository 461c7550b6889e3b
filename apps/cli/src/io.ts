/** Everything that a command uses of its environment. */
export interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether standard output and standard error are terminals. */
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Fires at Ctrl-C. */
  readonly signal: AbortSignal;
}
