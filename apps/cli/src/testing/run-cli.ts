import type { ExitCode } from '../errors.ts';
import { run } from '../run.ts';

export interface Ran {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

/** The default of the present time. */
export const NOW = Date.parse('2026-11-21T15:00:00.000Z');

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: string;
  readonly isTerminal?: boolean;
  readonly signal?: AbortSignal;
  readonly now?: () => number;
  /** Called with each frame of a live view. */
  readonly onFrame?: (text: string) => void;
  /** Called with everything printed so far, whenever something is printed. */
  readonly onOutput?: (out: string, err: string) => void;
}

/** Runs the program in this process; `env` is its whole environment. */
export async function runCli(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { env = {}, file = '/usr/bin/reroll', isTerminal = false, onOutput } = options;
  let out = '';
  let err = '';
  const code = await run(file, words, {
    out: (text) => {
      out += text;
      onOutput?.(out, err);
    },
    err: (text) => {
      err += text;
      onOutput?.(out, err);
    },
    outIsTerminal: isTerminal,
    errIsTerminal: isTerminal,
    redraw: options.onFrame,
    env: { HOME: '/nonexistent', ...env },
    now: options.now ?? (() => NOW),
    signal: options.signal ?? new AbortController().signal,
  });
  return { code, out, err };
}
