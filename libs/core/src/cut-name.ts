/** Returns at most the first `most` characters of an object's name, without what none may end with, such as a dot. */
export function cutName(name: string, most: number): string {
  return name.slice(0, most).replace(/[^a-z0-9]+$/u, '');
}
