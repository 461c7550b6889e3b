/** The only words taken from a server's text; the rest may quote what was sent. */
const CODES =
  /\b(?:WRONGPASS|NOAUTH|NOPERM|LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|MISCONF|NOREPLICAS|E[A-Z]{4,})\b/u;
/** A Sentinel that answers without an address, or that does not know the name. */
const UNKNOWN_MASTER = /^connected to sentinel .* invalid reply|No such master with that name/u;

/**
 * Returns what went wrong with a connection, without text from a server: `ECONNREFUSED`, `WRONGPASS`,
 * `DEPTH_ZERO_SELF_SIGNED_CERT`, `UnknownMaster` (the Sentinels do not know the name), or the error's class.
 */
export function redisErrorCode(error: unknown): string {
  const { code, name, message, lastNodeError } = error as Partial<Record<string, unknown>>;
  if (lastNodeError instanceof Error) return redisErrorCode(lastNodeError);
  if (typeof code === 'string') return code;
  const text = typeof message === 'string' ? message : '';
  if (UNKNOWN_MASTER.test(text)) return 'UnknownMaster';
  return CODES.exec(text)?.[0] ?? (typeof name === 'string' ? name : 'Error');
}
