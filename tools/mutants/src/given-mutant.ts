import type { Change } from './mutant.ts';

const VARIABLE = 'REROLL_MUTANT';

/** The environment of a process that is to load its modules with this change. */
export function environmentOf(change: Change): Record<string, string> {
  const { file, text, replacement } = change;
  return { [VARIABLE]: JSON.stringify({ file, text, replacement }) };
}

/** The change with which this process is to load its modules. Throws if it was given none. */
export function givenMutant(): Change {
  const given = process.env[VARIABLE];
  if (given === undefined) throw new Error(`expected a mutant in ${VARIABLE}`);
  return JSON.parse(given) as Change;
}
