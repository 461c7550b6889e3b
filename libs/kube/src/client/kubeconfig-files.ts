import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { KubeConfig, type User } from '@kubernetes/client-node';
import { load } from 'js-yaml';

/** Headers of a request; names in lower case. Each text of a list is a header of its own. */
export type RequestHeaders = Readonly<Record<string, string | string[]>>;

/** A user of a kubeconfig, with the impersonation that the library does not read. */
type FileUser = User & { readonly impersonation?: RequestHeaders };

/** What kubectl reads of a user and the library does not. */
interface LeftOut {
  readonly tokenFile?: unknown;
  readonly 'as-uid'?: unknown;
  readonly 'as-groups'?: unknown;
  readonly 'as-user-extra'?: unknown;
}

interface FileContent {
  readonly kind?: unknown;
  readonly users?: readonly { readonly user?: LeftOut | null }[] | null;
}

/** The headers of a user's impersonation, without that of its name. */
export function impersonationOf(user: FileUser | null): RequestHeaders {
  return user?.impersonation ?? {};
}

/** Reads a kubeconfig file as kubectl does. Errors may quote it; those of the file system have a `code`. */
export function readKubeconfig(file: string): KubeConfig {
  const config = new KubeConfig();
  const text = readFileSync(file, 'utf8');
  const { users } = contentOf(text);
  config.loadFromString(text);
  config.makePathsAbsolute(dirname(file));
  config.users = config.users.map((user, index) =>
    withLeftOut(user, users?.[index]?.user ?? {}, dirname(file)),
  );
  return config;
}

/** The library takes any other text for a kubeconfig without a context. */
function contentOf(text: string): FileContent {
  const content = load(text) as FileContent | string | number | null | undefined;
  const isOne = typeof content === 'object' && content !== null && (content.kind ?? 'Config') === 'Config';
  if (!isOne) throw new TypeError('expected a kubeconfig');
  return content;
}

function withLeftOut(user: User, given: LeftOut, folder: string): FileUser {
  const whole = { ...user, impersonation: headersOf(given) };
  if (!given.tokenFile) return whole;
  // As in kubectl, the file wins over a token.
  const { token: _token, ...rest } = whole;
  const tokenFile = resolve(folder, text(given.tokenFile));
  return { ...rest, authProvider: { name: 'tokenFile', config: { tokenFile } } };
}

function headersOf({
  'as-uid': uid,
  'as-groups': groups,
  'as-user-extra': extra,
}: LeftOut): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  if (uid) headers['impersonate-uid'] = text(uid);
  if (groups) headers['impersonate-group'] = texts(groups);
  for (const [key, values] of Object.entries(extra ?? {}))
    headers[`impersonate-extra-${headerName(key)}`] = texts(values);
  return headers;
}

/** The API server undoes percent encoding. */
function headerName(key: string): string {
  return encodeURIComponent(key).replaceAll('(', '%28').replaceAll(')', '%29').toLowerCase();
}

function texts(values: unknown): string[] {
  if (!Array.isArray(values)) throw new TypeError('expected a list');
  return values.map(text);
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('expected text');
  return value;
}

/** As in kubectl, the first one that has an entry wins. */
export function mergedKubeconfigs(first: KubeConfig, second: KubeConfig): KubeConfig {
  first.clusters = unique([...first.clusters, ...second.clusters]);
  first.users = unique([...first.users, ...second.users]);
  first.contexts = unique([...first.contexts, ...second.contexts]);
  if (!first.currentContext) first.setCurrentContext(second.currentContext);
  return first;
}

/** The first entry of each name. */
function unique<Named extends { readonly name: string }>(all: readonly Named[]): Named[] {
  return all.filter(({ name }, index) => all.findIndex((each) => each.name === name) === index);
}
