import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import 'reflect-metadata';
import { expect, it } from 'vitest';
import { serverCertificate } from './certificate.ts';

const HOSTS = ['reroll-redis', 'reroll-redis.reroll.svc', '127.0.0.1'];

it('makes a certificate that a client of the authority takes, for each host and no other', async () => {
  const made = await serverCertificate(HOSTS);
  const server = createServer({ cert: made['tls.crt'], key: made['tls.key'] }, (socket) => socket.end('in'));
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const get = async (host: string, ca: string): Promise<string> => {
    const name = host === '127.0.0.1' ? {} : { servername: host };
    const socket = connect({ host: '127.0.0.1', port, ca, ...name });
    try {
      const [data] = (await once(socket, 'data')) as [Buffer];
      return data.toString();
    } finally {
      socket.destroy();
    }
  };
  try {
    for (const host of HOSTS) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await get(host, made['ca.crt'])).toBe('in');
    }
    await expect(get('other', made['ca.crt'])).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    const other = await serverCertificate(HOSTS);
    await expect(get('reroll-redis', other['ca.crt'])).rejects.toMatchObject({
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    });
  } finally {
    server.close();
  }
});

it('makes a certificate for ten years, which may sign no other', async () => {
  const made = await serverCertificate(HOSTS);
  const [server, authority] = [new X509Certificate(made['tls.crt']), new X509Certificate(made['ca.crt'])];
  expect([server.ca, authority.ca]).toEqual([false, true]);
  const days = (Date.parse(server.validTo) - Date.now()) / 86_400_000;
  expect(Math.round(days / 365)).toBe(10);
  expect(JSON.stringify(made)).not.toContain('EC PRIVATE KEY');
});
