/** The keys of the hashes that Reroll records: a file with one key a line, of which the first is in use. */
import { readFileSync } from 'node:fs';

export type HashKeys =
  | { readonly ok: true; readonly keys: readonly string[] }
  | { readonly ok: false; readonly error: string };

/** A key that is short enough to guess is worse than none, because it looks safe. */
const SHORTEST_KEY = 16;

/** The code of a system error, e.g. `ENOENT`. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'unreadable';
}

/**
 * Reads the keys in the file, the current one first. An undefined path gives none (hashes without a key), which is an
 * error if a key is needed. A key is the text of its line, whatever it encodes; surrounding blanks and empty lines are
 * dropped.
 */
export function loadHashKeys(path: string | undefined, isNeeded = false): HashKeys {
  if (path === undefined && isNeeded)
    return { ok: false, error: '--hash: expected a --hash-key-file with hmac-sha256; given none' };
  if (path === undefined) return { ok: true, keys: [] };
  const expected = `--hash-key-file: expected a file with one key of ${SHORTEST_KEY} characters or more a line`;
  try {
    const lines = readFileSync(path, 'utf8').split(/\r?\n/u);
    const keys = lines.map((line) => line.trim()).filter((line) => line !== '');
    const tooShort = keys.findIndex((key) => key.length < SHORTEST_KEY);
    if (keys.length === 0) return { ok: false, error: `${expected}; given an empty one` };
    if (tooShort >= 0) return { ok: false, error: `${expected}; key ${tooShort + 1} is shorter` };
    return { ok: true, keys };
  } catch (error) {
    return { ok: false, error: `${expected}; given ${JSON.stringify(path)} (${codeOf(error)})` };
  }
}
