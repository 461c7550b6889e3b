import type { JSX } from 'preact';
import { hrefOf, route } from '../router.ts';
import { status } from '../state/status.ts';
import { shortName } from './header.tsx';
import { NavIcon, type NavPage } from './nav-icon.tsx';

type Pages = readonly (readonly [NavPage, string])[];

const PAGES: Pages = [
  ['', 'Overview'],
  ['changes', 'Changes'],
  ['workloads', 'Workloads'],
  ['sources', 'Sources'],
  ['jobs', 'Jobs'],
  ['audit', 'Audit'],
];
const TOOLS: Pages = [
  ['explain', 'Explain'],
  ['preview', 'Preview'],
];

export function Navigation({ isOpen }: { isOpen: boolean }): JSX.Element {
  const caller = status.value?.caller;
  return (
    <nav id="pages" class={isOpen ? 'open' : ''} aria-label="Pages">
      <ul>
        <Links to={PAGES} />
      </ul>
      <p id="nav-tools">Tools</p>
      <ul aria-labelledby="nav-tools">
        <Links to={TOOLS} />
      </ul>
      {caller ? <p class="nav-caller">Account: {shortName(caller.name)}</p> : null}
    </nav>
  );
}

function Links({ to }: { to: Pages }): JSX.Element {
  return (
    <>
      {to.map(([page, word]) => (
        <li key={page}>
          <a href={hrefOf(page)} aria-current={page === route.value.page ? 'page' : undefined}>
            <NavIcon page={page} />
            {word}
          </a>
        </li>
      ))}
    </>
  );
}
