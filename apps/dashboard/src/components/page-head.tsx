import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { clusterName } from '../cluster-name.ts';
import { status } from '../state/status.ts';
import { route } from '../router.ts';

interface PageHeadProps {
  readonly title: string;
  /** Above the title: what kind of thing this is. */
  readonly kind?: string;
  readonly children?: ComponentChildren;
}

let isFirstPage = true;

/** The heading of a page, which gets the focus when the reader comes to it, and the title of the window. */
export function PageHead({ title, kind, children }: PageHeadProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  const { page, parts } = route.value;
  const cluster = status.value?.cluster;
  const place = [page, ...parts].join('/');
  useEffect(() => {
    document.title = [title, ...(cluster === undefined ? [] : [clusterName(cluster)]), 'Reroll'].join(' · ');
  }, [title, cluster]);
  // With the page itself, not a frame later: a key pressed meanwhile would go to what is no more.
  useLayoutEffect(() => {
    if (!isFirstPage) heading.current?.focus();
    isFirstPage = false;
    scrollTo(0, 0);
  }, [place]);
  return (
    <header class="page-head">
      <div>
        {kind === undefined ? null : <p class="page-kind">{kind}</p>}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
      </div>
      {children === undefined ? null : <div class="actions">{children}</div>}
    </header>
  );
}
