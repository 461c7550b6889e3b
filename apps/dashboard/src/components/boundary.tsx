import type { ComponentChildren, JSX } from 'preact';
import { useErrorBoundary, useState } from 'preact/hooks';
import { route, type Route } from '../router.ts';
import { PageHead } from './page-head.tsx';

interface BoundaryProps {
  readonly children: ComponentChildren;
  /** In front of what is said: the heading of a page. */
  readonly head?: ComponentChildren;
}

/** In place of what cannot be drawn, says so, until the reader goes elsewhere. */
export function Boundary({ children, head }: BoundaryProps): JSX.Element {
  const [failedAt, setFailedAt] = useState<Route | undefined>(undefined);
  useErrorBoundary((error) => {
    console.error(error);
    setFailedAt(route.peek());
  });
  if (failedAt !== route.value) return <>{children}</>;
  return (
    <>
      {head}
      <div class="trouble" role="alert">
        <p>
          The dashboard could not draw {head === undefined ? 'a part of this page' : 'it'}. If Reroll was
          upgraded meanwhile, a reload helps.
        </p>
        <button type="button" onClick={() => location.reload()}>
          Reload the page
        </button>
      </div>
    </>
  );
}

/** Of a whole page, below its header. */
export function PageBoundary({ children }: { children: ComponentChildren }): JSX.Element {
  return <Boundary head={<PageHead title="This page could not be shown" />}>{children}</Boundary>;
}
