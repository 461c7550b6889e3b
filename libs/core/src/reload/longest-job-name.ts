/** The most characters of a name that can be a label, as that of a Job is for its pods. */
const MAX_NAME = 63;

/** What of a Job's spec limits the length of its name. */
export interface JobSize {
  readonly completionMode?: string;
  readonly completions?: number;
}

/**
 * Returns the most characters that a Job's name may have. The pods of an Indexed Job add their index to it, and the API server refuses
 * the Job if the last of these names is too long.
 */
export function longestJobName({ completionMode, completions = 0 }: JobSize = {}): number {
  return completionMode === 'Indexed' ? MAX_NAME - `-${completions - 1}`.length : MAX_NAME;
}
