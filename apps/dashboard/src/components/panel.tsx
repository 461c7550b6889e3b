import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface PanelProps {
  readonly title: string;
  /** To the right of the title. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A section with a heading, and a landmark by it. */
export function Panel({ title, aside, children }: PanelProps): JSX.Element {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** Terms and what is so of them. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(([term, fact]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{fact}</dd>
        </div>
      ))}
    </dl>
  );
}
