import { describe, expect, it } from 'vitest';
import { errorFields, errorPhrase, trustMessagesOf } from './error-fields.ts';

const SECRET = 'hunter2-s3cr3t';

class CatalogError extends Error {
  readonly code = 'CATALOG_TERM';
}
class ForeignError extends CatalogError {}
trustMessagesOf(CatalogError);

function nodeError(message: string, code: unknown): Error {
  return Object.assign(new Error(message), { code });
}

describe('what is told of an error', () => {
  it('is class, code and message, if its class is one of ours', () => {
    expect(errorFields(new CatalogError('the term is over'))).toEqual({
      error: 'CatalogError',
      code: 'CATALOG_TERM',
      message: 'the term is over',
    });
    expect(errorPhrase(new CatalogError('the term is over'))).toBe('the term is over');
  });

  it('is class, code and place in the code, if its class is not known', () => {
    const fields = errorFields(nodeError(`invalid value "${SECRET}"`, 'ECONNREFUSED'));
    expect(fields).toEqual({ error: 'Error', code: 'ECONNREFUSED', at: fields.at });
    expect(fields.at).toMatch(/error-fields\.spec\.ts:\d+:\d+$/u);
    expect(errorPhrase(nodeError(SECRET, 'ECONNREFUSED'))).toBe('Error ECONNREFUSED');
  });

  it.each<[string, unknown]>([
    ['an unknown message', new Error(SECRET)],
    ['a message that looks like a stack frame', new Error(`x\n    at ${SECRET} (/${SECRET}:1:2)`)],
    ['a message that begins with a stack frame', new Error(`\n    at ${SECRET} (/${SECRET}:1:2)`)],
    ['a class that extends one of ours', new ForeignError(SECRET)],
    ['a code that is not a code', nodeError('x', `E ${SECRET}`)],
    ['a code that is an object', nodeError('x', { value: SECRET })],
    ['a name that was changed', Object.assign(new Error('x'), { name: SECRET })],
    ['a stack that was changed', Object.assign(new Error('x'), { stack: SECRET })],
    ['the message of a cause', new CatalogError('ours', { cause: new Error(SECRET) })],
    ['a body beside the message', Object.assign(new Error('x'), { body: SECRET })],
    ['a text that was thrown', SECRET],
    ['an object that was thrown', { message: SECRET, code: SECRET }],
  ])('is never %s', (_sentence, error) => {
    expect(JSON.stringify(errorFields(error))).not.toContain(SECRET);
    expect(errorPhrase(error)).not.toContain(SECRET);
  });

  it('includes class and code of the cause', () => {
    const error = new CatalogError('no answer', { cause: nodeError(SECRET, 'ECONNRESET') });
    expect(errorFields(error)).toMatchObject({ message: 'no answer', cause: 'Error ECONNRESET' });
  });

  it('includes the code of an answer of Redis, and nothing more of it', () => {
    class SimpleError extends Error {}
    const fields = errorFields(new SimpleError(`OOM command not allowed: ${SECRET}`));
    expect(fields).toEqual({ error: 'SimpleError', code: 'OOM', at: fields.at });
    expect(errorFields(new SimpleError(SECRET))).not.toHaveProperty('code');
  });

  it('includes a numeric code, such as an HTTP status', () => {
    expect(errorFields(nodeError('x', 409))).toMatchObject({ code: '409' });
  });
});
