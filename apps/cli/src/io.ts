/** All that a command has of the world around the process. */
export interface Io {
  /** Data: standard output. */
  readonly out: (text: string) => void;
  /** Talk: standard error. */
  readonly err: (text: string) => void;
  /** Whether standard output, and error, are a terminal. */
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Fires at Ctrl-C. */
  readonly signal: AbortSignal;
}
