import { CONSTANTS, FUNCTIONS, LIBRARIES } from './library.ts';
import { unsupported, type Located } from './scope.ts';

/** What belongs to one call of a script: the parameters of the generated function. */
const OF_CALL: ReadonlySet<string> = new Set(['KEYS', 'ARGV']);
const LIBRARIES_OF_CALL: Readonly<Record<string, ReadonlySet<string>>> = {
  redis: new Set([
    'call',
    'pcall',
    'error_reply',
    'status_reply',
    'sha1hex',
    'log',
    'LOG_DEBUG',
    'LOG_VERBOSE',
    'LOG_NOTICE',
    'LOG_WARNING',
  ]),
  os: new Set(['time', 'clock']),
};

/** JavaScript for a global variable of Lua. Everything that Redis does not offer, or that is missing here, is an error. */
export function globalValue(name: string, node: Located): string {
  if (OF_CALL.has(name)) return name;
  if (Object.hasOwn(FUNCTIONS, name)) return `base.${name}`;
  throw unsupported(node, `the global variable '${name}'`);
}

export function isLibrary(name: string): boolean {
  return Object.hasOwn(LIBRARIES, name) || Object.hasOwn(LIBRARIES_OF_CALL, name);
}

/** JavaScript for a member of a library. */
export function libraryValue(library: string, member: string, node: Located): string {
  if (LIBRARIES_OF_CALL[library]?.has(member) === true) return `${library}.${member}`;
  if (Object.hasOwn(CONSTANTS[library] ?? {}, member)) return `constants.${library}.${member}`;
  if (Object.hasOwn(LIBRARIES[library] ?? {}, member)) return `libraries.${library}.${member}`;
  throw unsupported(node, `'${library}.${member}'`);
}
