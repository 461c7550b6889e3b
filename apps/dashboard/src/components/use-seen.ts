import { useState } from 'preact/hooks';

interface Seen<Value> {
  /** As it was when the dialog was opened: a person decides on this, and nothing else may be sent. */
  readonly seen: Value;
  /** For the `Action`. */
  readonly dialog: { readonly onOpen: () => void; readonly isOutdated: boolean };
}

/** Keeps what a person looks at while live updates go on. */
export function useSeen<Value extends string | null>(now: Value): Seen<Value> {
  const [seen, setSeen] = useState(now);
  return { seen, dialog: { onOpen: () => setSeen(now), isOutdated: seen !== now } };
}
