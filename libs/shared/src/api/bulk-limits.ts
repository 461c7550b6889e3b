/** Objects that one bulk request acts on. */
export const MOST_IN_BULK = 100;
/** How many may match unless the request says otherwise. */
export const BULK_LIMIT = 20;
