import type { KubeClient, Query } from '../client/connection.ts';
import { badResponse } from '../client/errors.ts';

export interface PagedList {
  readonly client: Pick<KubeClient, 'get'>;
  readonly path: string;
  readonly query: Query;
  readonly pageSize: number;
  readonly signal: AbortSignal;
  readonly accept?: string | undefined;
  /** Most bytes of a page; see `RequestOptions`. */
  readonly maxBytes?: number | undefined;
}

interface Page {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly unknown[] | null;
}

/** The API server needs time for a page of 500 large objects. */
const PAGE_TIMEOUT_MS = 60_000;

/**
 * Reads a consistent list in pages: the first page is a quorum read, and the others continue at the same resourceVersion, which is
 * returned. Rejects with a `KubeError`; a 410 means that the list took longer than the server keeps its history, and must be
 * started again. Each page is dropped before the next one is requested. If the signal fires while a page is handled and there are
 * more, it rejects with the reason `Stopped`.
 */
export async function listPages(
  list: PagedList,
  onPage: (items: readonly unknown[]) => void | Promise<void>,
): Promise<string> {
  let next: string | undefined;
  do {
    const page = await readPage(list, next);
    const resourceVersion = page.metadata?.resourceVersion;
    // An empty list has `items: []` or null; an answer without a resourceVersion is not a list.
    if (!resourceVersion || page.items === undefined) throw badResponse(`GET ${list.path}`, 'NotAList');
    await onPage(page.items ?? []);
    next = page.metadata?.continue;
    if (!next) return resourceVersion;
  } while (!list.signal.aborted);
  throw badResponse(`GET ${list.path}`, 'Stopped');
}

async function readPage(list: PagedList, next: string | undefined): Promise<Page> {
  const query = { ...list.query, limit: list.pageSize, continue: next };
  const { body } = await list.client.get<Page>(list.path, {
    query,
    signal: list.signal,
    timeoutMs: PAGE_TIMEOUT_MS,
    accept: list.accept,
    maxBytes: list.maxBytes,
  });
  return body;
}
