/** Branches of the processors that the simulation cannot reach, and why. */

export interface Unreached {
  readonly file: string;
  /** The line where the branch begins, without indentation. */
  readonly text: string;
  /** What keeps it from being reached, and the spec that reaches it. */
  readonly why: string;
}

export const UNREACHED: readonly Unreached[] = [];
