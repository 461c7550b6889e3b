import { idempotencyKey } from '@reroll/shared/api/common';
import { EVENTS, type EventName } from '@reroll/shared/api/events';
import { COMMON_PROBLEMS, OPERATIONS, type Operation } from '@reroll/shared/api/operations';
import { problem, PROBLEMS, type ProblemCode } from '@reroll/shared/api/problem';
import { VERSION } from '@reroll/shared/platform/process/version';
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { writes } from './http/operation-types.ts';

type Responses = ZodOpenApiOperationObject['responses'];

/** The headers of problems that say when to retry, or what else would be accepted. */
const HEADERS: Partial<Record<ProblemCode, z.ZodObject>> = {
  Unauthenticated: z.object({ 'WWW-Authenticate': z.string() }),
  TooManyRequests: z.object({
    'Retry-After': z
      .string()
      .regex(/^[1-9]\d*$/)
      .meta({ description: 'Seconds.' }),
  }),
  Unavailable: z.object({
    'Retry-After': z
      .string()
      .regex(/^[1-9]\d*$/)
      .meta({ description: 'Seconds.' }),
  }),
};

/** OpenAPI 3.1 cannot describe the events of a stream. This is one event, as a client of such streams sees it. */
const EVENT = z
  .object({
    id: z.string(),
    event: z.enum(Object.keys(EVENTS) as [EventName, ...EventName[]]),
    data: z.string(),
  })
  .meta({ description: 'A server-sent event. `data` is JSON, whose schema depends on `event`.' });

export function openApiDocument(): object {
  return createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Reroll',
      version: VERSION,
      description:
        'Shows why workloads were reloaded, or not, previews changes, and controls Reroll. To a caller, namespaces that they may not see do not exist. Errors are problem details (RFC 9457).',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // The first one is what generators resolve against the address of this document, whatever they make of relative URLs.
    servers: [
      { url: '/api/v1', description: 'At the address of this document.' },
      {
        url: './v1',
        description: 'Relative to this document, behind a proxy that adds a prefix to its path.',
      },
    ],
    security: [{ bearer: [] }, { proxied: [] }],
    tags: [...new Set(Object.values<Operation>(OPERATIONS).map(({ tag }) => tag))].map((name) => ({ name })),
    paths: paths(),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        proxied: {
          type: 'apiKey',
          in: 'header',
          name: 'Reroll-Authorization',
          description:
            "`Bearer <token>`, for requests through the API server's proxy, which removes `Authorization`.",
        },
      },
    },
  });
}

function paths(): ZodOpenApiPathsObject {
  const found: ZodOpenApiPathsObject = {};
  for (const [id, operation] of Object.entries<Operation>(OPERATIONS)) {
    found[operation.path] = { ...found[operation.path], [operation.method]: describe(id, operation) };
  }
  return found;
}

function describe(id: string, operation: Operation): ZodOpenApiOperationObject {
  const { tag, summary, params, query, body } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    requestParams: {
      ...(params === undefined ? {} : { path: params }),
      ...(query === undefined ? {} : { query }),
      ...(writes(operation) ? { header: z.object({ 'Idempotency-Key': idempotencyKey.optional() }) } : {}),
    },
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: { ...answers(operation), ...problems(operation) },
  };
}

function answers({ status, answer }: Operation): Responses {
  const content =
    answer === undefined
      ? { 'text/event-stream': { schema: EVENT } }
      : { 'application/json': { schema: answer } };
  return { [`${status}`]: { description: status === 202 ? 'Accepted' : 'OK', content } };
}

function problems(operation: Operation): Responses {
  const codes = [...new Set<ProblemCode>([...COMMON_PROBLEMS, ...operation.problems])];
  return Object.fromEntries(
    codes.map((code) => [
      `${PROBLEMS[code].status}`,
      {
        description: PROBLEMS[code].title,
        ...(HEADERS[code] === undefined ? {} : { headers: HEADERS[code] }),
        content: { 'application/problem+json': { schema: problem } },
      },
    ]),
  );
}
