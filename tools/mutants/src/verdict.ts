export interface Verdict {
  readonly isKilled: boolean;
  /** By what it was killed, or why it was not. */
  readonly text: string;
}

/** Enough of a message to tell what it is about. */
const LENGTH = 160;

export function killed(by: string): Verdict {
  const text = by.replaceAll(/\s+/gu, ' ');
  return { isKilled: true, text: `killed by ${text.length > LENGTH ? `${text.slice(0, LENGTH)}…` : text}` };
}

export function survived(what: string): Verdict {
  return { isKilled: false, text: `SURVIVED ${what}` };
}

/** It says nothing about the mutant. */
export function noVerdict(why: string): Verdict {
  return { isKilled: false, text: `NO VERDICT: ${why}` };
}
