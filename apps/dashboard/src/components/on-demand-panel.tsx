import { Fragment, type ComponentChildren, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Panel } from './panel.tsx';

interface OnDemandPanelProps {
  readonly title: string;
  /** On the button: `Check`, then `Check again`. */
  readonly verb: string;
  /** What is said before the first press. */
  readonly hint: ComponentChildren;
  /** Mounted anew with each press. */
  readonly children: ComponentChildren;
}

/** A panel that asks only when somebody presses its button. */
export function OnDemandPanel({ title, verb, hint, children }: OnDemandPanelProps): JSX.Element {
  const [asked, setAsked] = useState(0);
  return (
    <Panel
      title={title}
      aside={
        <button type="button" onClick={() => setAsked(asked + 1)}>
          {asked === 0 ? verb : `${verb} again`}
        </button>
      }
    >
      {asked === 0 ? <p class="empty">{hint}</p> : <Fragment key={asked}>{children}</Fragment>}
    </Panel>
  );
}
