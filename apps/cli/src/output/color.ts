import type { Io } from '../io.ts';

/** What a cell means; only terminals show it. */
export type Tone = 'good' | 'waiting' | 'bad' | 'quiet';

const CODES: Readonly<Record<Tone, number>> = { good: 32, waiting: 33, bad: 31, quiet: 2 };
const ESCAPE = '\u001b';

/** The colors and their end; a group, so that `split` keeps them. */
export const COLOR_CODES = new RegExp(String.raw`(\u001b\[(?:${Object.values(CODES).join('|')}|0)m)`);

export type Paint = (text: string, tone: Tone | undefined) => string;

const PLAIN: Paint = (text) => text;
const ANSI: Paint = (text, tone) =>
  tone === undefined ? text : `${ESCAPE}[${CODES[tone]}m${text}${ESCAPE}[0m`;

/** Colors only on a terminal, and never with `NO_COLOR` (https://no-color.org) or a terminal that is `dumb`. */
export function isColored(io: Pick<Io, 'env'>, isTerminal: boolean): boolean {
  const { NO_COLOR, TERM } = io.env;
  const refused = (NO_COLOR !== undefined && NO_COLOR !== '') || TERM === 'dumb';
  return isTerminal && !refused;
}

export function paintFor(io: Pick<Io, 'env'>, isTerminal: boolean): Paint {
  return isColored(io, isTerminal) ? ANSI : PLAIN;
}

const TONES: Readonly<Record<string, Tone>> = {
  rolledOut: 'good',
  complete: 'good',
  reload: 'good',
  done: 'good',
  yes: 'good',
  pending: 'waiting',
  delayed: 'waiting',
  running: 'waiting',
  retrying: 'waiting',
  held: 'waiting',
  reloaded: 'waiting',
  progressing: 'waiting',
  owed: 'waiting',
  stale: 'waiting',
  underWay: 'waiting',
  baking: 'waiting',
  halted: 'bad',
  stuck: 'bad',
  failed: 'bad',
  skipped: 'quiet',
  recorded: 'quiet',
  wouldReload: 'quiet',
  skip: 'quiet',
  pass: 'quiet',
  no: 'quiet',
};

/** The tone of a state, as the API names it. */
export function toneOf(state: string): Tone | undefined {
  return Object.hasOwn(TONES, state) ? TONES[state] : undefined;
}
