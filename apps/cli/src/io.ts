/** Everything that a command uses of its environment. */
export interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether standard output and standard error are terminals. */
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** Draws lines on standard error, in place of those that it drew before. Undefined: that is no terminal that can. */
  readonly redraw?: ((text: string) => void) | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Fires at Ctrl-C. */
  readonly signal: AbortSignal;
}
