const MOST = 300;
/** The user part of a URL, as in a registry's. */
const USER_INFO = /([a-z][a-z0-9+.-]*:\/\/)[^/\s@]*@/giu;
/** The value assigned to a name that suggests a secret, in any notation. */
const ASSIGNED =
  /((?:password|passwd|pwd|secret|token|api[-_]?key|credential|authorization|bearer)[a-z0-9_-]*["']?\s*[:=]\s*|bearer\s+)(?:(?:bearer|basic)\s+)?(?:"[^"]*"|'[^']*'|[^\s,;"']+)/giu;
/** Long runs of characters that are not names: base64, hexadecimal digits, tokens. Digests of images stay. */
const RUN = /(?<!sha256:)(?<![A-Za-z0-9+/_=.-])[A-Za-z0-9+/_=-]{24,}(?![A-Za-z0-9+/_=.-])/gu;

/**
 * Returns a text of the kubelet or a controller in a form that users may see: on one line, at most 300 characters, without what
 * looks like a secret. Such texts name objects and images and quote no Secret; this covers users who made a secret part of a name.
 */
export function kubeletText(text: string): string {
  const scrubbed = text
    .slice(0, 10 * MOST)
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(USER_INFO, '$1…@')
    .replace(ASSIGNED, '$1…')
    .replace(RUN, (run) => (isName(run) ? run : '…'));
  return scrubbed.length > MOST ? `${scrubbed.slice(0, MOST - 1)}…` : scrubbed;
}

/**
 * Matches names in Kubernetes and paths: lower-case letters, digits and hyphens, in parts that do not mix runs of digits and
 * letters.
 */
function isName(run: string): boolean {
  return /^(?:[a-z]+=)?[a-z0-9/_-]+$/u.test(run) && run.split(/[-=/_]/u).every((part) => part.length < 24);
}
