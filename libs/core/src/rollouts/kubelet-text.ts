const MOST = 300;
/**
 * Characters that are read, because the expressions below can take time that grows with the square of the length, for each condition
 * of each event. More than `MOST`, because a message gets shorter.
 */
const MOST_READ = 2 * MOST;
/** The value assigned to a name that suggests a secret, in any notation. A quoted one may have been cut. */
const ASSIGNED =
  /((?:password|passwd|pwd|secret|token|(?:api|access)[-_]?key|credential|authorization|bearer)[a-z0-9_-]{0,64}[\\"']*\s*[:=]\s*|bearer\s+)(?:(?:bearer|basic)\s+)?(?:\\+"[^"]*"?|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[^\s,;"']+)/giu;
/** The word after such a name, in prose. A plain `secret` is followed by the name of an object. */
const NAMED = /(?<=(?:password|passwd|pwd|token|credentials?|(?:secret|api|access)[-_]?key) )["']?\S+/giu;
/** Words that nobody would write in prose. */
const CODED = /\d|[a-z][A-Z]/u;
/** Long runs of characters that are not names: base64, hexadecimal digits, tokens, which may have dots. Digests of images stay. */
const RUN = /(?<!sha256:)(?<![A-Za-z0-9+/_=.-])[A-Za-z0-9+/_=.-]{24,}/gu;

/** The parts of names. */
const SHORT = /^[a-z0-9]{0,23}$/u;
const CAMEL = /^[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})*$/u;

/**
 * Returns a text of the kubelet or a controller in a form that users may see: on one line, at most 300 characters, without what
 * looks like a secret. Such texts name objects and images and quote no Secret; this covers users who made a secret part of a name.
 */
export function kubeletText(text: string): string {
  const scrubbed = beginning(text)
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/\S+/gu, withoutUrlSecrets)
    .replace(ASSIGNED, '$1…')
    .replace(NAMED, (word) => (CODED.test(word) ? '…' : word))
    .replace(RUN, (run) => (isName(run) ? run : '…'));
  return scrubbed.length > MOST ? `${scrubbed.slice(0, MOST - 1)}…` : scrubbed;
}

/** Ends before a word that would be cut: the rest of a secret might not look like one. */
function beginning(text: string): string {
  if (text.length <= MOST_READ) return text;
  const cut = text.slice(0, MOST_READ);
  return `${cut.slice(0, cut.search(/\s(?=\S*$)/u) + 1)}…`;
}

/** Removes what is before the last `@` of a URL, which may begin a digest, and its query. */
function withoutUrlSecrets(word: string): string {
  if (!word.includes('://')) return word;
  const start = word.indexOf('://') + 3;
  const end = word.replace(/@sha256:.*/u, '').lastIndexOf('@');
  const url = end > start ? `${word.slice(0, start)}…${word.slice(end)}` : word;
  return url.replace(/\?[^"']+?(?=:?$|["'])/gu, '?…');
}

/**
 * Matches names in Kubernetes, paths and fields, also with a value (`name=value`): parts of lower-case letters and digits, shorter
 * than 24, or words in camel case.
 */
function isName(run: string): boolean {
  return (
    /^[^+=]*(?:=[^+=]+)?$/u.test(run) &&
    run.split(/[-=/_.]/u).every((part) => SHORT.test(part) || CAMEL.test(part))
  );
}
