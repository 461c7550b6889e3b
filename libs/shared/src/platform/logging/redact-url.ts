const MASK = '***';

/**
 * Removes user, password, query and fragment from a URL for logs and error messages: `redis://:secret@redis:6379/0`
 * becomes `redis://***@redis:6379/0`. Text in which a credential cannot be located reliably (not a URL, or an unencoded
 * `@`, `/` or `#` in the password) becomes `***`.
 */
export function redactUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.host === '' || !text.includes('://')) return MASK;
  const behindHost = url.pathname + url.search + url.hash;
  if (behindHost.includes('@')) return MASK;
  const user = url.username === '' && url.password === '' ? '' : `${MASK}@`;
  const query = url.search === '' && url.hash === '' ? '' : `?${MASK}`;
  return `${url.protocol}//${user}${url.host}${url.pathname}${query}`;
}
