import { z } from 'zod';

export const MOST_PER_PAGE = 200;

/** The parameters of every list. A cursor is opaque, and stays valid while entries come and go. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(MOST_PER_PAGE).default(50),
  cursor: z.string().max(512).optional().meta({ description: '`next` of the previous page.' }),
};

/** A page of a list. It may hold fewer than `limit` items and still have a next page; `next` is null on the last page. */
export function page<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ items: z.array(item), next: z.string().nullable() });
}
