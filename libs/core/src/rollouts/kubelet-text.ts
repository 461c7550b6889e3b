const MOST = 300;
/** The user part of a URL, as of a registry. */
const USER_INFO = /([a-z][a-z0-9+.-]*:\/\/)[^/\s@]*@/giu;
/** What is assigned to something that is called like a secret, in whatever notation. */
const ASSIGNED =
  /((?:password|passwd|pwd|secret|token|api[-_]?key|credential|authorization|bearer)[a-z0-9_-]*["']?\s*[:=]\s*|bearer\s+)(?:(?:bearer|basic)\s+)?(?:"[^"]*"|'[^']*'|[^\s,;"']+)/giu;
/** Long runs of characters that are no name: base64, hexadecimal digits, tokens. Digests of images are left. */
const RUN = /(?<!sha256:)(?<![A-Za-z0-9+/_=.-])[A-Za-z0-9+/_=-]{24,}(?![A-Za-z0-9+/_=.-])/gu;

/**
 * A text of the kubelet, or of a controller, that people may see: on one line, at most 300 characters, without what
 * looks like a secret. They name objects and images and quote no Secret; this is for those who made one part of a name.
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

/** Like names in Kubernetes and paths: small letters, digits and hyphens, in parts that are no run of digits and letters. */
function isName(run: string): boolean {
  return /^(?:[a-z]+=)?[a-z0-9/_-]+$/u.test(run) && run.split(/[-=/_]/u).every((part) => part.length < 24);
}
