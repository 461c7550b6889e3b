import type { ComponentChildren, JSX } from 'preact';
import { useErrorBoundary, useState } from 'preact/hooks';
import { route, type Route } from '../router.ts';
import { PageHead } from './page-head.tsx';

/** In place of a page that cannot be drawn, says so, until the reader goes elsewhere. */
export function PageBoundary({ children }: { children: ComponentChildren }): JSX.Element {
  const [failedAt, setFailedAt] = useState<Route | undefined>(undefined);
  useErrorBoundary((error) => {
    console.error(error);
    setFailedAt(route.peek());
  });
  return failedAt === route.value ? <NotShown /> : <>{children}</>;
}

function NotShown(): JSX.Element {
  return (
    <>
      <PageHead title="This page could not be shown" />
      <div class="trouble" role="alert">
        <p>
          The dashboard has failed to draw it. Reroll may have been upgraded since you opened the dashboard:
          then a reload helps.
        </p>
        <button type="button" onClick={() => location.reload()}>
          Reload the page
        </button>
      </div>
    </>
  );
}
