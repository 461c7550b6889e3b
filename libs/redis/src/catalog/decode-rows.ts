import { setImmediate as nextTurn } from 'node:timers/promises';

/** Characters of rows to decode in one turn of the event loop, exceeded by at most one row. */
export const DECODED_PER_TURN = 262_144;

/** What this process has decoded in this turn of the event loop, for all who read at once. */
const inTurn = { characters: 0 };

function decodes(characters: number): void {
  if (inTurn.characters === 0) setImmediate(() => (inTurn.characters = 0));
  inTurn.characters += characters;
}

/** Decodes the rows that there are, by their keys. Pauses where rows are many or large. */
export async function decodeRows<ObjectKey extends string, Row>(
  keys: readonly ObjectKey[],
  texts: readonly (string | null | undefined)[],
  decode: (text: string, key: ObjectKey) => Row | undefined,
): Promise<Map<ObjectKey, Row>> {
  const found = new Map<ObjectKey, Row>();
  for (const [index, key] of keys.entries()) {
    const text = texts[index] ?? '';
    if (text === '') continue;
    while (inTurn.characters >= DECODED_PER_TURN) await nextTurn();
    decodes(text.length);
    const row = decode(text, key);
    if (row !== undefined) found.set(key, row);
  }
  return found;
}
