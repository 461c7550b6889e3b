import { signal } from '@preact/signals';
import { keepScroll, resume } from './state/left-off.ts';

/**
 * Where the reader is. Routes stand in the fragment, so that every page is a deep link under whatever path the dashboard
 * is served: `#/workloads/Deployment/shop/web`, `#/changes?state=failed`.
 */
export interface Route {
  /** First part; empty: the overview. */
  readonly page: string;
  /** The parts after it, decoded. */
  readonly parts: readonly string[];
  /** To which the reader has limited what is shown; empty: all. It stays in the links, unless they say otherwise. */
  readonly namespace: string;
  readonly query: Readonly<Record<string, string>>;
}

export type Query = Readonly<Record<string, string | undefined>>;

export const route = signal<Route>(parseRoute(''));

export function parseRoute(fragment: string): Route {
  const [path = '', search = ''] = fragment.replace(/^#?\/?/, '').split('?', 2);
  const [page = '', ...parts] = path
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  const { namespace = '', ...query } = Object.fromEntries(new URLSearchParams(search));
  return { page, parts, namespace, query };
}

/** The fragment of a page; what is undefined or empty in the query is left out. */
export function hrefOf(page: string, parts: readonly string[] = [], query: Query = {}): string {
  const path = [page, ...parts].map(encodeURIComponent).join('/');
  const given = Object.entries({ namespace: route.value.namespace, ...query }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const search = new URLSearchParams(given).toString();
  return `#/${path}${search === '' ? '' : `?${search}`}`;
}

export function go(page: string, parts: readonly string[] = [], query: Query = {}): void {
  location.hash = hrefOf(page, parts, query);
}

export function followLocation(): void {
  const follow = (): void => {
    resume();
    route.value = parseRoute(location.hash);
  };
  keepScroll();
  addEventListener('hashchange', follow);
  follow();
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
