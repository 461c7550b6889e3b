/**
 * An API server of another minor version may serve the same pod template in another form, for example with a new default. So the hash of
 * a template goes with the version that served it, and hashes of two versions cannot be compared.
 */

/** `version`: `<major>.<minor>`; undefined: not known. '', the hash of a template that starts no pods, stays as it is. */
export function servedBy(version: string | undefined, template: string): string {
  return version === undefined || template === '' ? template : `${version}:${template}`;
}

/** Whether both are hashes of one template in the same form, whichever version served it. */
export function isSameTemplate(a: string, b: string): boolean {
  return a.slice(versionOf(a).length) === b.slice(versionOf(b).length);
}

export function areComparable(a: string, b: string): boolean {
  return versionOf(a) === versionOf(b);
}

function versionOf(template: string): string {
  return template.slice(0, template.indexOf(':') + 1);
}
