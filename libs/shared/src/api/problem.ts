import { z } from 'zod';

/** Why a request was not served. A problem's `type` is `urn:reroll:problem:<code>`. */
export const PROBLEMS = {
  InvalidRequest: { status: 400, title: 'The request is invalid' },
  Unauthenticated: { status: 401, title: 'The bearer token is missing or invalid' },
  Forbidden: { status: 403, title: 'The caller may not do this' },
  NotFound: { status: 404, title: 'Not found, or the caller may not see it' },
  MethodNotAllowed: { status: 405, title: 'The path does not support this method' },
  NotAcceptable: { status: 406, title: 'The response is JSON' },
  Conflict: { status: 409, title: 'The current state does not allow it' },
  TooLarge: { status: 413, title: 'The body is too large' },
  UnsupportedMediaType: { status: 415, title: 'The body must be JSON' },
  IdempotencyMismatch: { status: 422, title: 'The idempotency key was used for another request' },
  TooManyRequests: { status: 429, title: 'Too many requests' },
  Internal: { status: 500, title: 'The request failed' },
  Unavailable: { status: 503, title: 'Redis, the API server or the leader cannot be reached' },
} as const;
export type ProblemCode = keyof typeof PROBLEMS;

/** RFC 9457, as `application/problem+json`. */
export const problem = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]),
    detail: z.string().optional(),
    /** What was expected, by place in the request. Never what was given, because that could be a credential. */
    errors: z.array(z.strictObject({ path: z.string(), expected: z.string() })).optional(),
    requestId: z.string().optional(),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof problem>;
