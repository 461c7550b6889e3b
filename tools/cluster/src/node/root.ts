import { readFileSync } from 'node:fs';

/** Whether this is root, and not only of a user namespace. */
export function isRootOfMachine(): boolean {
  return (
    process.getuid?.() === 0 && /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'utf8'))
  );
}
