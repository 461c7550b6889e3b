import type { JSX } from 'preact';
import { useEffect, useRef, useState, type Dispatch, type StateUpdater } from 'preact/hooks';
import { OpenAction } from './components/action.tsx';
import { Loading, Trouble } from './components/answer.tsx';
import { PageBoundary } from './components/boundary.tsx';
import { Header, MENU_BUTTON, SEARCH_FIELD } from './components/header.tsx';
import { Help } from './components/help.tsx';
import { Time } from './components/time.tsx';
import { Navigation } from './components/navigation.tsx';
import { Page } from './pages/page.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { route } from './router.ts';
import { listenToKeys } from './shortcuts.ts';
import { announcement } from './state/announcer.ts';
import { connection } from './state/connection.ts';
import { refused } from './state/session.ts';
import { status, statusAnswer } from './state/status.ts';
import { ZONE } from './time.ts';
import { useAnswer } from './use-answer.ts';

export function App(): JSX.Element {
  const main = useRef<HTMLElement>(null);
  const help = useRef<HTMLDialogElement>(null);
  const { isMenuOpen, setMenuOpen } = useMenu();
  useEffect(() => {
    listenToKeys({
      help: () => help.current?.showModal(),
      search: () => document.getElementById(SEARCH_FIELD)?.focus(),
    });
  }, []);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          // The fragment is the route.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to content
      </a>
      <Header
        isMenuOpen={isMenuOpen}
        toggleMenu={() => setMenuOpen((isOpen) => !isOpen)}
        help={() => help.current?.showModal()}
      />
      <Navigation isOpen={isMenuOpen} />
      <main id="main" ref={main} tabIndex={-1}>
        <Lost />
        <Upgraded />
        <Content />
      </main>
      <Footer />
      <div class="unseen" role="status" aria-live="polite">
        {announcement.value}
      </div>
      <Help dialog={help} />
      <OpenAction />
    </>
  );
}

/** Whether the list of pages is open, where it is behind a button. Another page or Escape closes it. */
function useMenu(): { isMenuOpen: boolean; setMenuOpen: Dispatch<StateUpdater<boolean>> } {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { page, parts } = route.value;
  useEffect(() => setMenuOpen(false), [page, parts.join('/')]);
  useEffect(() => {
    if (!isMenuOpen) return undefined;
    const closeByEscape = (event: KeyboardEvent): void => {
      // What is open above the menu, as a dialog or suggestions, is closed first.
      const isForMenu = !event.defaultPrevented && document.querySelector('dialog[open]') === null;
      if (event.key !== 'Escape' || !isForMenu) return;
      setMenuOpen(false);
      document.getElementById(MENU_BUTTON)?.focus();
    };
    addEventListener('keydown', closeByEscape);
    return () => removeEventListener('keydown', closeByEscape);
  }, [isMenuOpen]);
  return { isMenuOpen, setMenuOpen };
}

/** The page, once it is known who the reader is. */
export function Content(): JSX.Element {
  const answer = useAnswer('getStatus', {}, 'pulse');
  useEffect(() => {
    status.value = answer.data;
    // The token is good after all.
    if (answer.data) refused.value = undefined;
  }, [answer.data]);
  useEffect(() => void (statusAnswer.value = answer), [answer.data, answer.error]);
  if (refused.value !== undefined) return <SignIn />;
  if (status.value) {
    return (
      <PageBoundary>
        <Page />
      </PageBoundary>
    );
  }
  if (answer.error) {
    return (
      <>
        <h1 class="unseen">Reroll</h1>
        <Trouble error={answer.error} what="the status of this install" again={answer.refresh} />
      </>
    );
  }
  return (
    <>
      <h1 class="unseen">Reroll</h1>
      <Loading what="the status" />
    </>
  );
}

/** Says that what is shown may be old. */
function Lost(): JSX.Element | null {
  const at = connection.answeredAt.value;
  if (!connection.isLost.value || !at || !status.value) return null;
  return (
    <p class="lost">
      <strong role="alert">Not connected.</strong> Reroll last answered at <Time at={at} />, and what is shown
      may be out of date. The dashboard keeps trying.
    </p>
  );
}

/** Says that this page is of an earlier build than the API, if it has been open for so long. */
export function Upgraded(): JSX.Element | null {
  const first = useRef<string | undefined>(undefined);
  const version = status.value?.version;
  first.current ??= version;
  if (version === undefined || version === first.current) return null;
  return (
    <p class="trouble calm" role="status">
      Reroll {version} is installed, and this page is from {first.current}.{' '}
      <button type="button" onClick={() => location.reload()}>
        Reload the page
      </button>
    </p>
  );
}

function Footer(): JSX.Element {
  return (
    <footer>
      <span>Time zone: {ZONE}</span>
      {status.value ? <span>Reroll {status.value.version}</span> : null}
      <a href="api/docs">API</a>
      <a href="licenses.txt">Licenses</a>
    </footer>
  );
}
