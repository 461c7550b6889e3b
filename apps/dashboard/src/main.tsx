import { render } from 'preact';
import { App } from './app.tsx';
import { PageBoundary } from './components/boundary.tsx';
import { followLocation } from './router.ts';
import { followEvents } from './state/live.ts';
import { keepPreferences } from './state/preferences.ts';

const root = document.getElementById('app');
if (!root) throw new Error('expected an element with the id app');
keepPreferences();
followLocation();
followEvents();
render(
  <PageBoundary>
    <App />
  </PageBoundary>,
  root,
);
