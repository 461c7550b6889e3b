import { ProblemError } from './problem-error.ts';

/** A position in a list, as the caller is given it: opaque. */
export function cursorOf(position: string): string {
  return Buffer.from(position).toString('base64url');
}

/** The position; undefined without a cursor. Throws a `ProblemError` if it is none of ours. */
export function positionOf(cursor: string | undefined, form: RegExp): string | undefined {
  if (cursor === undefined) return undefined;
  const position = Buffer.from(cursor, 'base64url').toString();
  if (form.test(position)) return position;
  throw new ProblemError('InvalidRequest', {
    errors: [{ path: 'query.cursor', expected: '`next` of the page before' }],
  });
}
