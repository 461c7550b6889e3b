import { describe, expect, test } from 'vitest';
import { apiError, networkError } from './errors.ts';

const request = 'PATCH /apis/apps/v1/namespaces/shop/deployments/web';

describe('what is kept of an API error', () => {
  test('status, reason, and causes without their words', () => {
    const error = apiError({
      request,
      status: 422,
      body: {
        kind: 'Status',
        message: 'Deployment is invalid: value "hunter2"',
        reason: 'Invalid',
        details: {
          causes: [
            {
              reason: 'FieldValueInvalid',
              message: 'hunter2',
              field: 'spec.template.spec.containers[0].env[1].name',
            },
          ],
        },
      },
    });
    expect(error).toMatchObject({
      code: 'KUBE_API',
      status: 422,
      reason: 'Invalid',
      retryable: false,
      hasCauses: true,
    });
    expect(error.causes).toEqual([
      { reason: 'FieldValueInvalid', field: 'spec.template.spec.containers[0].env[1].name' },
    ]);
    expect(error.message).toBe(`${request}: the API server refused or failed the request (422 Invalid)`);
  });

  test.each([
    ['a message', { message: 'hunter2' }],
    ['a reason of an admission webhook', { reason: 'hunter2' }],
    [
      'a cause of any kind',
      { details: { causes: [{ reason: 'hunter2', field: 'x: "hunter2"', message: 'hunter2' }] } },
    ],
    ['the name in the details', { details: { name: 'hunter2', kind: 'hunter2' } }],
    ['a body that is text', 'hunter2'],
  ])('%s does not get through', (_name, body) => {
    const error = apiError({ request, status: 403, body });
    expect(JSON.stringify(error) + error.stack).not.toContain('hunter2');
  });

  test.each([
    [400, false],
    [401, true],
    [403, false],
    [404, false],
    [409, false],
    [410, false],
    [422, false],
    [429, true],
    [500, true],
    [502, true],
    [503, true],
    [504, true],
  ])('status %i: retryable %s', (status, retryable) => {
    expect(apiError({ request, status, body: undefined }).retryable).toBe(retryable);
  });

  test('Retry-After, from the header or the body, makes it retryable and is kept in milliseconds', () => {
    const header = apiError({ request, status: 409, body: {}, retryAfter: '7' });
    const body = apiError({ request, status: 500, body: { details: { retryAfterSeconds: 3 } } });
    expect([header.retryable, header.retryAfterMs, body.retryAfterMs]).toEqual([true, 7000, 3000]);
  });

  test('a Retry-After of more than a minute counts as a minute', () => {
    const header = apiError({ request, status: 503, body: {}, retryAfter: '3600' });
    const body = apiError({ request, status: 500, body: { details: { retryAfterSeconds: 2_147_484 } } });
    expect([header.retryAfterMs, body.retryAfterMs]).toEqual([60_000, 60_000]);
  });

  test('an error event of a watch brings its status in the body', () => {
    const error = apiError({ request, status: 0, body: { kind: 'Status', code: 410, reason: 'Expired' } });
    expect(error).toMatchObject({ status: 410, reason: 'Expired' });
  });
});

describe('what is kept of a failure below HTTP', () => {
  test.each([
    ['ECONNRESET', 'KUBE_NETWORK'],
    ['ENOTFOUND', 'KUBE_NETWORK'],
    ['UND_ERR_SOCKET', 'KUBE_NETWORK'],
    ['UND_ERR_CONNECT_TIMEOUT', 'KUBE_TIMEOUT'],
    // A proxy that answers CONNECT with a 502.
    ['UND_ERR_ABORTED', 'KUBE_NETWORK'],
  ])('%s is a retryable %s', (code, expected) => {
    const error = networkError(request, Object.assign(new Error('hunter2'), { code }));
    expect(error).toMatchObject({ code: expected, reason: code, status: 0, retryable: true });
    expect(String(error.stack)).not.toContain('hunter2');
  });

  test.each(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED'])('%s is the end of the client', (code) => {
    const error = networkError(request, Object.assign(new Error('x'), { code }));
    expect(error).toMatchObject({ code: 'KUBE_ABORTED', retryable: false });
  });
});
