/**
 * Patterns that need no regular expression: names in which a dot is any character, with at most one `.*`. Most patterns in practice
 * are of this form (`kube-root-ca.crt`, `app-.*`), and matching takes no longer than reading the name.
 */

const WITHOUT_STAR = /^[A-Za-z0-9.-]+$/;
const WITH_STAR = /^([A-Za-z0-9.-]*?)\.\*([A-Za-z0-9.-]*)$/;
/** The characters for which this agrees with a regular expression: no line breaks, one code unit each. */
const PLAIN = /^[A-Za-z0-9.-]*$/;

/** Returns a matcher for names of letters, digits, dots and dashes; undefined if the pattern is not simple. */
export function simplePattern(pattern: string): ((name: string) => boolean) | undefined {
  if (WITHOUT_STAR.test(pattern)) return (name) => name.length === pattern.length && fits(pattern, name, 0);
  const parts = WITH_STAR.exec(pattern);
  if (!parts) return undefined;
  const [, head = '', tail = ''] = parts;
  return (name) => {
    const end = name.length - tail.length;
    return end >= head.length && fits(head, name, 0) && fits(tail, name, end);
  };
}

/** Whether a simple pattern can be asked about the name. */
export function isPlain(name: string): boolean {
  return PLAIN.test(name);
}

function fits(part: string, name: string, from: number): boolean {
  for (let at = 0; at < part.length; at += 1) {
    if (part[at] !== '.' && part[at] !== name[from + at]) return false;
  }
  return true;
}
