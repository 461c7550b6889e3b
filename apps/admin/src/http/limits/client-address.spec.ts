import type { Request } from 'express';
import { describe, expect, it } from 'vitest';
import { ClientAddresses } from './client-address.ts';

function addressOf(proxies: readonly string[], from: string, forwarded?: string): string {
  const request = { socket: { remoteAddress: from }, headers: { 'x-forwarded-for': forwarded } };
  return new ClientAddresses(proxies).of(request as unknown as Request);
}

const PROXIES = ['10.0.0.0/24', '192.168.1.1', 'fd00::/8'];

describe('the address of a caller', () => {
  it.each<[string, readonly string[], string, string | undefined, string]>([
    ['is that of the connection', PROXIES, '1.2.3.4', undefined, '1.2.3.4'],
    ['is not what a caller writes', PROXIES, '1.2.3.4', '5.6.7.8', '1.2.3.4'],
    ['is not what a proxy writes that nobody trusts', [], '10.0.0.1', '5.6.7.8', '10.0.0.1'],
    ['is what a trusted proxy writes', PROXIES, '10.0.0.1', '5.6.7.8', '5.6.7.8'],
    ['is not what its caller wrote before', PROXIES, '10.0.0.1', '9.9.9.9, 10.0.0.7, 5.6.7.8', '5.6.7.8'],
    ['is what the first of several proxies writes', PROXIES, '10.0.0.1', '5.6.7.8, 192.168.1.1', '5.6.7.8'],
    ['is that of a mapped connection', PROXIES, '::ffff:10.0.0.1', '::ffff:5.6.7.8', '5.6.7.8'],
    ['is of IPv6 too', PROXIES, 'fd00::1', '2001:db8::1', '2001:db8::1'],
    ['is without the port of IPv4', PROXIES, '10.0.0.1', '5.6.7.8:4711', '5.6.7.8'],
    ['is without the port of IPv6', PROXIES, '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['is that of the proxy, if it wrote no address', PROXIES, '10.0.0.1', '5.6.7.8, unknown', '10.0.0.1'],
    ['is that of the proxy, if it wrote nothing', PROXIES, '10.0.0.1', undefined, '10.0.0.1'],
    [
      'is that of the first proxy, if nobody else is named',
      PROXIES,
      '10.0.0.1',
      '10.0.0.3,10.0.0.2',
      '10.0.0.3',
    ],
    ['is nothing for a connection that is gone', PROXIES, '', '5.6.7.8', ''],
  ])('%s', (_sentence, proxies, from, forwarded, expected) => {
    expect(addressOf(proxies, from, forwarded)).toBe(expected);
  });

  it('is looked for in twenty hops at most', () => {
    const hops = ['5.6.7.8', ...Array.from({ length: 25 }, (_, index) => `10.0.0.${index}`)];
    expect(addressOf(PROXIES, '10.0.0.99', hops.join(', '))).toBe('10.0.0.5');
  });
});
