import { MAX_NAME_LENGTH, type SourceKind } from '../model.ts';
import { markerType } from './marker-type.ts';

/**
 * Returns the environment variable that marks a container with a source's hash: `STAKATER_<NAME>_<TYPE>`, as stakater/Reloader
 * names it. In NAME, letters are upper case, and a run of other characters than A-Z and 0-9 becomes one `_`, or nothing at the
 * start. So `a.b`, `a-b` and `a--b` share a variable.
 */
export function envVarName(kind: SourceKind, name: string): string {
  return `STAKATER_${upperSnake(name)}_${markerType(kind)}`;
}

const LONGEST = envVarName('SecretProviderClass', 'x'.repeat(MAX_NAME_LENGTH)).length;

/** Whether a variable of this name marks a container. The API server takes names of any length. */
export function isEnvVarMark(name: string): boolean {
  return name.startsWith('STAKATER_') && name.length <= LONGEST;
}

function upperSnake(name: string): string {
  const upper = Array.from(name, upperCase).join('');
  return upper.replaceAll(/[^A-Z0-9]+/g, '_').replace(/^_/, '');
}

/** Maps one character to one character, as Go does; JavaScript would turn some into two (`ß` -> `SS`). */
function upperCase(character: string): string {
  const upper = character.toUpperCase();
  return upper.length === 1 ? upper : '_';
}
