import { describe, expect, it } from 'vitest';
import { formatListenAddress, parseListenAddress } from './listen-address.ts';

describe('an address to listen on', () => {
  it.each([
    ['without a host means every interface', ':9090', { host: undefined, port: 9090 }],
    ['with port 0 means a free port', '127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['has an IPv6 host in brackets', '[::1]:9090', { host: '::1', port: 9090 }],
    ['can have a name', 'localhost:80', { host: 'localhost', port: 80 }],
  ])('%s: %s', (_sentence, text, address) => {
    expect(parseListenAddress(text)).toEqual(address);
    expect(formatListenAddress(address)).toBe(text);
  });

  it.each(['', '9090', ':', ':65536', ':-1', '::1:9090', 'a b:80', 'http://a:80', ':80/x'])(
    'is not %j',
    (text) => {
      expect(parseListenAddress(text)).toBeUndefined();
    },
  );
});
