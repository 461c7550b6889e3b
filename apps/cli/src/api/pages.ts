import { MOST_PER_PAGE } from '@reroll/shared/api/page';
import type { AdminApi } from './admin-api.ts';
import type { AnswerOf, InputOf } from './operation.ts';

type ListId = 'listChanges' | 'listWorkloads' | 'listSources' | 'listJobs' | 'listAudit';
type ItemOf<Id extends ListId> = AnswerOf<Id> extends { items: (infer Item)[] } ? Item : never;
interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

export interface Listed<Item> {
  readonly items: readonly Item[];
  /** Whether there are more items than requested. */
  readonly more: boolean;
}

interface ListQuery<Id extends ListId> {
  readonly query: InputOf<Id>['query'];
  readonly limit: number | undefined;
  readonly isPast?: (item: ItemOf<Id>) => boolean;
}

/** Reads up to `limit` items of a list (undefined: all), page by page. `isPast`: not that item, nor those after it. */
export async function listed<Id extends ListId>(
  api: AdminApi,
  id: Id,
  { query, limit, isPast = () => false }: ListQuery<Id>,
): Promise<Listed<ItemOf<Id>>> {
  const items: ItemOf<Id>[] = [];
  const most = limit ?? Infinity;
  let cursor: string | null = null;
  for (;;) {
    const wanted = Math.min(MOST_PER_PAGE, most - items.length);
    const page = { ...(query as object | undefined), limit: wanted, ...(cursor === null ? {} : { cursor }) };
    const answer = (await api.call(id, { query: page } as InputOf<Id>)) as Page<ItemOf<Id>>;
    for (const item of answer.items) {
      if (isPast(item)) return { items, more: true };
      items.push(item);
    }
    cursor = answer.next;
    if (cursor === null || items.length >= most) return { items, more: cursor !== null };
  }
}
