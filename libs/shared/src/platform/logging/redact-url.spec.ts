import { describe, expect, it } from 'vitest';
import { redactUrl } from './redact-url.ts';

describe('a redacted URL', () => {
  it.each([
    ['keeps scheme, host, port and path', 'redis://redis:6379/2', 'redis://redis:6379/2'],
    ['loses user and password', 'redis://user:pw@redis:6379/0', 'redis://***@redis:6379/0'],
    ['loses a password without a user', 'rediss://:pw@redis', 'rediss://***@redis'],
    ['loses its query, where a password can stand too', 'redis://redis?password=pw', 'redis://redis?***'],
    ['loses its fragment', 'redis://redis/0#pw', 'redis://redis/0?***'],
    ['keeps an IPv6 address', 'redis://:pw@[::1]:6379', 'redis://***@[::1]:6379'],
    ['is nothing if it has no scheme', 'user:pw@redis:6379', '***'],
    ['is nothing if the slashes are missing', 'redis:pw@redis', '***'],
    ['is nothing if a slash in the password ends the host too early', 'redis://user:12/pw@redis', '***'],
    ['is nothing if a hash in the password ends the host too early', 'redis://user:12#pw@redis', '***'],
    ['is nothing if a question mark in the password does so', 'redis://user:12?pw@redis', '***'],
    ['is nothing if it is no URL', 'redis://:pa ss@', '***'],
    ['is nothing if it is empty', '', '***'],
  ])('%s', (_sentence, url, redacted) => {
    expect(redactUrl(url)).toBe(redacted);
  });
});
