/** Where a command writes, and what ends it. */
export interface Terminal {
  /** Results only. */
  readonly out: (text: string) => void;
  /** Progress and errors. */
  readonly err: (text: string) => void;
  readonly signal: AbortSignal;
}
