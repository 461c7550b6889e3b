import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';

interface PortionProps<Item> {
  readonly items: readonly Item[];
  /** How many are shown at first. */
  readonly first: number;
  /** For the button: `workloads`. */
  readonly what: string;
  readonly children: (shown: readonly Item[]) => ComponentChildren;
}

/** The first of many items, and as many again as were shown with each press of a button. */
export function Portion<Item>({ items, first, what, children }: PortionProps<Item>): JSX.Element {
  const [most, setMost] = useState(first);
  const rest = items.length - most;
  return (
    <>
      {children(items.slice(0, most))}
      {rest <= 0 ? null : (
        <button type="button" class="more" onClick={() => setMost(most * 2)}>
          Show {Math.min(rest, most)} more of {items.length} {what}
        </button>
      )}
    </>
  );
}
