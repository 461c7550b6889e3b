/**
 * What stakater/Reloader can do and this release cannot yet. Each is accepted as long as it asks for nothing
 * (its default value); asking for it is an error, because to ignore it silently would be worse. An entry
 * goes when its feature comes.
 */
import { parseBool } from './values.ts';

export interface UnsupportedFlag {
  readonly flag: `--${string}`;
  /** As in `ValueKind`. */
  readonly form: 'value' | 'bool' | 'list';
  readonly default: string;
}

export const UNSUPPORTED_FLAGS: readonly UnsupportedFlag[] = [
  { flag: '--namespace-selector', form: 'list', default: '' },
];

/** What is wrong with the last value given to an unsupported flag, or undefined. The value is not printed. */
export function complaintAbout(unsupported: UnsupportedFlag, given: string): string | undefined {
  const { flag, form, default: initial } = unsupported;
  const notYet = `${flag}: not supported yet by Reroll; leave it out`;
  if (form === 'value' || form === 'list') return given === initial || given === '' ? undefined : notYet;
  const value = parseBool(given);
  if (value === undefined) return `${flag}: expected true or false`;
  return value ? notYet : undefined;
}
