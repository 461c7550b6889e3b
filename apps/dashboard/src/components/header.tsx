import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { WORKLOAD_KINDS } from '@reroll/core/model';
import { clusterName } from '../cluster-name.ts';
import { isSourceKind, refOf } from '../names.ts';
import { Boundary } from './boundary.tsx';
import { Combobox } from './combobox.tsx';
import { textOf } from './filters.tsx';
import { go, hrefOf, route } from '../router.ts';
import { theme, THEMES } from '../state/preferences.ts';
import { refused, signOut, token } from '../state/session.ts';
import { status } from '../state/status.ts';

export const SEARCH_FIELD = 'search';
export const MENU_BUTTON = 'menu';

const THEME_WORDS = { system: 'Theme: auto', light: 'Theme: light', dark: 'Theme: dark' } as const;

interface HeaderProps {
  readonly isMenuOpen: boolean;
  readonly toggleMenu: () => void;
  readonly help: () => void;
}

export function Header({ isMenuOpen, toggleMenu, help }: HeaderProps): JSX.Element {
  return (
    <header class="top">
      <button
        type="button"
        id={MENU_BUTTON}
        class="menu plain"
        aria-expanded={isMenuOpen}
        aria-controls="pages"
        onClick={toggleMenu}
      >
        Menu
      </button>
      <a class="brand" href={hrefOf('')} aria-label="Reroll, overview">
        <Mark />
        <span class="brand-name">Reroll</span>
      </a>
      <Boundary>
        <Context />
        <SearchForm />
        <div class="top-end">
          <ThemeChoice />
          <button type="button" class="plain help" onClick={help}>
            Shortcuts
          </button>
          <Caller />
        </div>
      </Boundary>
    </header>
  );
}

function Mark(): JSX.Element {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M25 16a9 9 0 1 1-3.1-6.8M25.2 3.6v6.6h-6.6" />
    </svg>
  );
}

/** Which cluster this is, and how much of it is shown. */
function Context(): JSX.Element | null {
  if (!status.value) return null;
  const { cluster } = status.value;
  return (
    <div class="context">
      <strong title={cluster}>{clusterName(cluster)}</strong>
      <NamespaceForm all={status.value.caller.clusterWide ? 'All namespaces' : 'Your namespaces'} />
    </div>
  );
}

const NAMESPACE_FIELD = 'namespace';

function NamespaceForm({ all }: { all: string }): JSX.Element {
  const { page, parts, namespace, query } = route.value;
  const choose = (chosen: string): void => go(page, parts, { ...query, namespace: chosen });
  return (
    <form onSubmit={(event) => choose(submitted(event, NAMESPACE_FIELD))}>
      <span aria-hidden="true">Namespace</span>
      <Combobox
        aria-label="Namespace"
        id={NAMESPACE_FIELD}
        name={NAMESPACE_FIELD}
        of="namespace"
        placeholder={all}
        pattern="[a-z0-9\-]*"
        title="The name of a namespace"
        value={namespace}
        onChoose={choose}
      />
    </form>
  );
}

function SearchForm(): JSX.Element {
  const { page, query } = route.value;
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        const text = submitted(event, SEARCH_FIELD);
        if (text !== '') search(text);
      }}
    >
      <label class="unseen" for={SEARCH_FIELD}>
        Search workloads and sources
      </label>
      <Combobox
        id={SEARCH_FIELD}
        name={SEARCH_FIELD}
        of="object"
        placeholder="Search by name"
        value={page === 'search' ? (query['q'] ?? '') : ''}
        onChoose={search}
      />
    </form>
  );
}

function submitted(event: Event, field: string): string {
  event.preventDefault();
  return textOf(new FormData(event.currentTarget as HTMLFormElement).get(field));
}

/** A whole key leads to its page at once. */
function search(text: string): void {
  const ref = refOf(text);
  const parts = ref ? [ref.kind, ref.namespace, ref.name] : [];
  if (ref && isSourceKind(ref.kind)) go('sources', parts);
  else if (ref && WORKLOAD_KINDS.some((kind) => kind === ref.kind)) go('workloads', parts);
  else go('search', [], { q: text });
}

function ThemeChoice(): JSX.Element {
  const id = useId();
  return (
    <>
      <label class="unseen" for={id}>
        Theme
      </label>
      <select
        id={id}
        class="plain"
        value={theme.value}
        onChange={({ currentTarget }) =>
          (theme.value = THEMES.find((each) => each === currentTarget.value) ?? 'system')
        }
      >
        {THEMES.map((each) => (
          <option key={each} value={each}>
            {THEME_WORDS[each]}
          </option>
        ))}
      </select>
    </>
  );
}

/** A token without a right to the API, which tells nobody's name, can be given up, too. */
function Caller(): JSX.Element {
  const caller = status.value?.caller;
  return (
    <>
      {caller ? (
        <span class="caller" title={caller.name}>
          {shortName(caller.name)}
        </span>
      ) : null}
      {token.value === '' || refused.value !== undefined ? null : (
        <button type="button" class="plain" onClick={signOut}>
          Sign out
        </button>
      )}
    </>
  );
}

/** `system:serviceaccount:shop:reader` to `shop:reader`. */
export function shortName(name: string): string {
  return name.replace(/^system:serviceaccount:/, '');
}
